#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::inline v0::text {

/// One step through bytes that should be UTF-8.
struct Utf8Step {
    enum class Status { valid, invalid, truncated };

    char32_t code;       ///< the code point; U+FFFD unless valid
    std::size_t length;  ///< bytes used: the character, or the maximal ill-formed sequence (Unicode 15, section 3.9)
    Status status;       ///< truncated: the bytes end inside a character that is well-formed so far
};

/// Reads the first character of `bytes`, which must not be empty.
/// "\xC3\xA9x" -> {U+00E9, 2, valid}, "\xC3x" -> {U+FFFD, 1, invalid}, "\xC3" -> {U+FFFD, 1, truncated}
Utf8Step read_utf8(std::string_view bytes);

/// Appends a code point as UTF-8.
void append_utf8(std::string& out, char32_t code);

/// The property White_Space, which is what `\s` and Rust's char::is_whitespace mean.
bool is_white_space(char32_t code);

/// General category L*, N*, P*.
bool is_letter(char32_t code);
bool is_number(char32_t code);
bool is_punctuation(char32_t code);

/// General category Mn.
bool is_nonspacing_mark(char32_t code);

/// General category Cc, Cf, Cs or Co; unassigned code points (Cn) are not among them.
bool is_control(char32_t code);

/// Appends the full lower-case mapping, which looks at one character alone: U+03A3 is always U+03C3, final or not.
void append_lower(std::u32string& out, char32_t code);

/// Normalization form D in O(n log n): 1 MB of combining marks is sorted, not bubbled.
std::u32string canonical_decomposition(std::u32string_view text);

}  // namespace cairn::inline v0::text
