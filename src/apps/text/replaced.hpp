#pragma once

#include "cairn/version.hpp"

#include <string>
#include <string_view>

namespace cairn::inline v0::text {

/// The text with each occurrence of `from`, which must not be empty, replaced by `to`, from left to right.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace cairn::inline v0::text
