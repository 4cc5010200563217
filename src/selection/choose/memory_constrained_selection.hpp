#pragma once

#include "selection/choose/constrained_selection.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace cairn::selection {

/// Picks the cheapest covers that need at most `limit` bytes by `bytes_of`, which is called for few covers, since it
/// may plan their memory. Errors keep within their budgets as well (constrained_selection.hpp). Throws as select()
/// does.
ConstrainedSelection select_within_memory(std::span<const Bucket> buckets, std::int64_t limit,
                                          const std::function<std::int64_t(const Selections&)>& bytes_of,
                                          const Options& options = {});

}  // namespace cairn::selection
