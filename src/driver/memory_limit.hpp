#pragma once

#include "driver/stages.hpp"

#include <optional>
#include <span>
#include <vector>

/// CompileOptions::memory_limit: time is traded for bytes, never more bytes taken than allowed.
namespace cairn::driver {

/// Throws Error(memory) where a report is above the limit.
void check_limit(const MemoryReport& memory, const CompileOptions& options);

/// The covers of all buckets, `seen` as select is to see them: the fastest whose programs, planned, keep within the
/// limit. Throws Error(memory) with the fewest bytes of all that were looked at where none do.
selection::Selections choose_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                          std::span<const selection::Bucket> seen, const CompileOptions& options,
                                          const selection::Options& select_options);

/// The same; nothing where none do. With `inexact` covers they are exact ones to verify them by, and both together keep
/// within the limit.
std::optional<selection::Selections> find_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                                       std::span<const selection::Bucket> seen,
                                                       const selection::Selections* inexact,
                                                       const CompileOptions& options,
                                                       const selection::Options& select_options);

}  // namespace cairn::driver
