#pragma once

#include "apps/text/unicode.hpp"

#include <cstddef>
#include <string_view>

namespace cairn::inline v0::text {

/// A set of kinds of characters.
class CharacterKinds {
public:
    template <typename... Kind>
    constexpr explicit CharacterKinds(Kind... kinds) : bits_((0U | ... | (1U << static_cast<unsigned>(kinds)))) {}

    constexpr bool contains(CharacterKind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1U) != 0; }

private:
    unsigned bits_;
};

inline constexpr CharacterKinds letters(CharacterKind::upper, CharacterKind::lower, CharacterKind::caseless);
inline constexpr CharacterKinds letters_and_marks(CharacterKind::upper, CharacterKind::lower, CharacterKind::caseless,
                                                  CharacterKind::mark);
inline constexpr CharacterKinds numbers(CharacterKind::number);
inline constexpr CharacterKinds spaces(CharacterKind::space);

/// The first character of a text.
struct KnownCharacter {
    CharacterKind kind;
    std::size_t length;  ///< in bytes
};

/// An ill-formed byte sequence is one character of the kind `symbol`, like U+FFFD.
KnownCharacter first_character(std::string_view text);

/// True if the text begins with a character of these kinds.
bool starts_with(std::string_view text, CharacterKinds kinds);

/// End of the run of characters of these kinds that begins at `from`.
std::size_t run_end(std::string_view text, std::size_t from, CharacterKinds kinds);

/// Length of `\p{N}{1,most}`; 0 if the text does not begin with a number.
std::size_t number_length(std::string_view text, int most);

/// `\s*[\r\n]+|\s+(?!\S)|\s+`: a run of spaces ends behind its last newline, if it has one, otherwise before its last
/// character. 0 if the text does not begin with one.
std::size_t space_length_with_newlines(std::string_view text);

/// ` ?[signs]+[ends]*|` and the spaces of space_length_with_newlines(); 0 if neither matches.
std::size_t sign_or_space_length(std::string_view text, CharacterKinds signs, std::string_view ends);

/// Start of the white space that ends `text`.
std::size_t trailing_space(std::string_view text);

/// `\s+(?!\S)|\s+`: the last character of a run of spaces belongs to the word after it, unless the run has only one.
std::size_t space_length(std::string_view text);

}  // namespace cairn::inline v0::text
