#pragma once

#include "driver/stages.hpp"

#include <optional>
#include <span>
#include <vector>

/// Selection within CompileOptions::memory_limit and device_memory_limits.
namespace cairn::driver {

/// True if the memory of some device is limited.
inline bool has_memory_limit(const CompileOptions& options) {
    return options.memory_limit.has_value() || !options.device_memory_limits.empty();
}

/// Throws Error(memory) if the memory exceeds the limit of a device.
void check_limit(const MemoryReport& memory, const CompileOptions& options);

/// The fastest covers of all buckets whose planned programs fit within the limits. `seen` are the buckets as the
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
