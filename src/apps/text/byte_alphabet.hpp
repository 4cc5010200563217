#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::inline v0::text {

/// GPT-2's mapping of the 256 bytes to printable characters, so that a vocabulary can be a text file. The bytes 33-126,
/// 161-172 and 174-255 map to the character of the same code, the others in order to U+0100, U+0101, ...: "the"
/// preceded by a space is "Ġthe", since 32 is the 33rd of the others.
class ByteAlphabet {
public:
    ByteAlphabet();

    /// The character of a byte in UTF-8.
    const std::string& character(unsigned char byte) const { return characters_[byte]; }

    /// "Ġthe" -> " the"; nothing if a character is not of this alphabet.
    std::optional<std::string> bytes_of(std::string_view token) const;

private:
    static constexpr std::size_t codes = 256 + 68;

    std::array<std::string, 256> characters_;
    std::array<int, codes> bytes_;  // by code point; -1: not in the alphabet
};

}  // namespace cairn::inline v0::text
