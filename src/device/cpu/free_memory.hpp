#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::device {

/// Bytes of memory that this process may allocate before the system has to swap or to kill a process: what the system
/// counts as available, but no more than what is left in its control group and the group's ancestors. Nothing if
/// neither is reported. `root` is prepended to every path that is read.
std::optional<std::int64_t> free_memory(const std::string& root = {});

}  // namespace cairn::device
