#pragma once

#include "cairn/version.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// The words of a text, for looking them up: "Don't, PLEASE" -> "don't" "please". A word is a run of letters, marks and
/// digits, with single apostrophes inside it (U+2019 becomes one too); all other characters, and bytes that are not
/// UTF-8, separate words. Upper and lower case are equal, by Unicode's full case folding ("Straße" gives "strasse");
/// nothing else is normalized. Linear in the text.
CAIRN_API std::vector<std::string> folded_words(std::string_view text);

/// True for well-formed UTF-8 (Unicode 15, section 3.9).
CAIRN_API bool is_utf8(std::string_view text);

}  // namespace cairn::inline v0::text
