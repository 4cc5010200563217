#pragma once

#include "selection/choose/constrained_selection.hpp"

#include <span>

namespace cairn::selection {

/// Picks the cheapest covers within a limit on bytes. Errors keep within their budgets as well
/// (constrained_selection.hpp). Throws as select() does.
ConstrainedSelection select_within_memory(std::span<const Bucket> buckets, const MemoryLimit& limit,
                                          const Options& options = {});

}  // namespace cairn::selection
