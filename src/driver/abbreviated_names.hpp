#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::driver {

/// A short list of names: names that differ in one number are joined into one, and at most `most` are printed.
///
///     {"h.0.w", "h.1.w", "h.2.w", "x"}   ->   h.0..2.w, x
std::string abbreviated_names(const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace cairn::driver
