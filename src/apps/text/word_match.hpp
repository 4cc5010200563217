#pragma once

#include "apps/text/word_length.hpp"

namespace cairn::inline v0::text {

/// Length in bytes of what a rule that matches parts of a text matches at the start of `text`, which must not be empty;
/// 0 if it does not match there.
std::size_t match_length(std::string_view text, WordRule rule);

}  // namespace cairn::inline v0::text
