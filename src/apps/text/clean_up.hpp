#pragma once

#include <string>

namespace cairn::inline v0::text {

/// Removes the spaces that joining words leaves around English punctuation and contractions, pattern by pattern as
/// Hugging Face's `clean_up_tokenization_spaces`: "i don ' t know , do you ?" -> "i don't know, do you?".
std::string clean_up(std::string text);

}  // namespace cairn::inline v0::text
