#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::inline v0::text {

/// Result of decoding one character of bytes that may be ill-formed UTF-8.
struct Utf8Step {
    enum class Status { valid, invalid, truncated };

    char32_t code;       ///< the code point; U+FFFD unless valid
    std::size_t length;  ///< bytes read: the character, or the maximal ill-formed sequence (Unicode 15, section 3.9)
    Status status;       ///< truncated: the bytes end within a character that is well-formed so far
};

/// Decodes the first character of `bytes`, which must not be empty.
/// "\xC3\xA9x" -> {U+00E9, 2, valid}, "\xC3x" -> {U+FFFD, 1, invalid}, "\xC3" -> {U+FFFD, 1, truncated}
Utf8Step read_utf8(std::string_view bytes);

/// Appends a code point as UTF-8.
void append_utf8(std::string& out, char32_t code);

/// The property White_Space, as `\s` and Rust's char::is_whitespace.
bool is_white_space(char32_t code);

/// What the words of byte-level BPE depend on: White_Space, or else the general category.
enum class CharacterKind : std::uint8_t {
    upper,     ///< Lu, Lt
    lower,     ///< Ll
    caseless,  ///< Lm, Lo
    mark,
    number,
    punctuation,
    symbol,
    space,
    other,  ///< C*
};
CharacterKind kind_of(char32_t code);

/// General category P*.
bool is_punctuation(char32_t code);

/// General category Mn; M*.
bool is_nonspacing_mark(char32_t code);
bool is_mark(char32_t code);

/// General category Cc, Cf, Cs or Co; not unassigned code points (Cn).
bool is_control(char32_t code);

/// Appends the full lower-case mapping of one character without context: U+03A3 always maps to U+03C3, final or not.
void append_lower(std::u32string& out, char32_t code);

/// Appends the full case folding of one character: ß gives ss.
void append_case_folded(std::string& out, char32_t code);

/// Normalization forms D and KD in O(n log n), even for 1 MB of combining marks.
std::u32string canonical_decomposition(std::u32string_view text);
std::u32string compatibility_decomposition(std::u32string_view text);

/// Canonical composition of a decomposed text: form C of form D, and KC of KD.
std::u32string canonical_composition(std::u32string decomposed);

/// Finds the boundaries between extended grapheme clusters (UAX #29): what a reader sees as one character.
class GraphemeBreaks {
public:
    /// True if a cluster begins at `next`; the calls pass the characters of a text in order.
    bool begins(char32_t next);

private:
    char32_t last_ = 0;
    std::int32_t state_ = 0;
    bool is_first_ = true;
};

}  // namespace cairn::inline v0::text
