#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::device {

/// A Linux control group, identified by the folder that holds its limits.
struct ControlGroup {
    std::string folder;
    bool unified = false;  ///< version 2; otherwise version 1
};

/// The control groups of this process whose limits a controller (`cpu`, `memory`) enforces, and their ancestors, of
/// version 1 and 2, each before its parent. `root` is prepended to every path that is read: `/proc/self/cgroup`,
/// `/proc/self/mountinfo` and the mounted hierarchies.
std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root = {});

}  // namespace cairn::device
