#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::device {

/// A control group of Linux, by the folder in which its limits lie.
struct ControlGroup {
    std::string folder;
    bool unified = false;  ///< of version 2; else of version 1
};

/// The groups of this process in which a controller (`cpu`, `memory`) may limit it, and those above them, of version 1
/// and 2, each before the one above it. `root` stands before every path that is read: `/proc/self/cgroup`,
/// `/proc/self/mountinfo` and the mounted hierarchies.
std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root = {});

}  // namespace cairn::device
