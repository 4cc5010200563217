#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::device {

/// Bytes of memory that this process may take before the system has to swap or to end something: what the system counts
/// as available, but no more than what is left in its control group and those above it. Nothing where neither is told.
/// `root` stands before every path that is read.
std::optional<std::int64_t> free_memory(const std::string& root = {});

}  // namespace cairn::device
