#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// Names in few words: those that differ in one number are told as one, of the others at most `most` are.
///
///     {"h.0.w", "h.1.w", "h.2.w", "x"}   ->   h.0..2.w, x
std::string joined_names(const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace cairn::inline v0
