#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cairn::device {

/// The CPUs this process can keep busy: those of the calling thread's affinity mask, but no more than whole CPUs in its
/// cgroup quota; at least 1. A fraction of a CPU is rounded down, since a team of spinning threads that is throttled
/// loses more than it gains.
int usable_cpus() noexcept;

/// The CPUs of the calling thread's affinity mask; at least 1.
int affinity_cpus() noexcept;

/// Their numbers, ascending; empty where the system does not say.
std::vector<int> affinity_mask();

/// The tightest CPU quota (in CPUs, 1.5 say) of this process's cgroup and those above it, of version 1 and 2; nothing
/// if there is none. `root` stands before every path that is read: `/proc/self/cgroup`, `/proc/self/mountinfo` and the
/// mounted hierarchies.
std::optional<double> cgroup_quota(const std::string& root = {});

}  // namespace cairn::device
