#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cairn::device {

/// Number of CPUs this process can keep busy: those of the calling thread's affinity mask, but no more than whole CPUs
/// in its cgroup quota; at least 1. A fraction of a CPU is rounded down, since a team of spinning threads that is
/// throttled loses more than it gains.
int usable_cpus() noexcept;

/// Number of CPUs in the calling thread's affinity mask; at least 1.
int affinity_cpus() noexcept;

/// The numbers of these CPUs, ascending; empty if the system does not report them.
std::vector<int> affinity_mask();

/// The tightest CPU quota (in CPUs, such as 1.5) of this process's cgroup and its ancestors, of version 1 and 2;
/// nothing if there is none. `root` is prepended to every path that is read: `/proc/self/cgroup`,
/// `/proc/self/mountinfo` and the mounted hierarchies.
std::optional<double> cgroup_quota(const std::string& root = {});

}  // namespace cairn::device
