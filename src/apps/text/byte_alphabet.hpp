#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::inline v0::text {

/// GPT-2's spelling of the 256 bytes as printable characters, so that a vocabulary can be a text file.
/// The bytes 33-126, 161-172 and 174-255 are spelled by the character of the same code, the others in order by
/// U+0100, U+0101, ...: "the" preceded by a space is "Ġthe", since 32 is the 33rd of the others.
class ByteAlphabet {
public:
    ByteAlphabet();

    /// The UTF-8 spelling of one byte.
    const std::string& character(unsigned char byte) const { return characters_[byte]; }

    /// "Ġthe" -> " the"; nothing where a character spells no byte.
    std::optional<std::string> bytes_of(std::string_view token) const;

private:
    static constexpr std::size_t codes = 256 + 68;

    std::array<std::string, 256> characters_;
    std::array<int, codes> bytes_;  // by code point; -1 spells no byte
};

}  // namespace cairn::inline v0::text
