#pragma once

#include "driver/stages.hpp"

#include <optional>
#include <span>
#include <vector>

/// Selection within CompileOptions::memory_limit.
namespace cairn::driver {

/// Throws Error(memory) if the memory exceeds the limit.
void check_limit(const MemoryReport& memory, const CompileOptions& options);

/// The fastest covers of all buckets whose planned programs fit within the limit. `seen` are the buckets as the
/// selection reads them. If no covers fit, throws Error(memory) with the fewest bytes of all covers tried.
selection::Selections choose_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                          std::span<const selection::Bucket> seen, const CompileOptions& options,
                                          const selection::Options& select_options);

/// As choose_within_limit(), but returns nothing if no covers fit. If `inexact` is given, the result verifies these
/// covers, and both together must fit within the limit.
std::optional<selection::Selections> find_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                                       std::span<const selection::Bucket> seen,
                                                       const selection::Selections* inexact,
                                                       const CompileOptions& options,
                                                       const selection::Options& select_options);

}  // namespace cairn::driver
