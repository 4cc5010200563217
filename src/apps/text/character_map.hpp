#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// The table of replacements of SentencePiece's normalizer, `precompiled_charsmap`: a double-array trie of UTF-8
/// strings, whose values are offsets of zero-terminated replacements. Little-endian:
///
///     u32 size of the trie in bytes, u32 units of the trie, replacements in UTF-8
///
/// A unit has bits 0-7: label, 8: a leaf follows, 9: the offset is shifted by 8 bits more, 10-30: offset to the
/// children; the unit of a leaf has bit 31 and the value.
class CharacterMap {
public:
    /// Throws Error (file) if the bytes are no such table; `source` is the file named in errors.
    CharacterMap(std::string_view bytes, const std::string& source);

    /// Replaces characters as Hugging Face tokenizers does: a grapheme cluster of less than 6 bytes is replaced as a
    /// whole by the replacement of the shortest entry that it begins with; without such an entry, or in longer
    /// clusters, each code point is replaced in this way.
    std::string apply(std::string_view text) const;

    bool operator==(const CharacterMap&) const = default;

private:
    std::optional<std::string_view> replacement(std::string_view text) const;
    void append_cluster(std::string_view cluster, std::string& out) const;
    std::uint32_t unit(std::size_t position) const { return position < trie_.size() ? trie_[position] : 0; }

    std::vector<std::uint32_t> trie_;
    std::string replacements_;
};

/// The bytes of a base64 text (RFC 4648, with padding); empty if it is none.
std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace cairn::inline v0::text
