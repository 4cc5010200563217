#include "device/cpu/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace cairn::device {
namespace {

struct Mount {
    std::string root, point;
    bool unified = false;  // version 2
};

bool has_word(std::string_view list, std::string_view word) {
    for (std::size_t from = 0; from <= list.size();) {
        const std::size_t to = std::min(list.find(',', from), list.size());
        if (list.substr(from, to - from) == word) return true;
        from = to + 1;
    }
    return false;
}

// Parses a line of mountinfo: id parent device root point options [optional fields...] - type source super-options.
std::optional<Mount> parse_mount(const std::string& line, std::string_view controller) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) return std::nullopt;
    std::istringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
    std::string id, parent, device, type, source, options;
    Mount mount;
    if (!(head >> id >> parent >> device >> mount.root >> mount.point) || !(tail >> type >> source >> options))
        return std::nullopt;
    mount.unified = type == "cgroup2";
    if (!mount.unified && !(type == "cgroup" && has_word(options, controller))) return std::nullopt;
    return mount;
}

std::vector<Mount> mounts(const std::string& root, std::string_view controller) {
    std::vector<Mount> found;
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        if (auto mount = parse_mount(line, controller)) found.push_back(*std::move(mount));
    }
    return found;
}

// This process's group in the unified hierarchy, or in the version 1 hierarchy of the controller: lines
// `id:controllers:path`.
std::optional<std::string> group_path(const std::string& root, bool unified, std::string_view controller) {
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        if (unified ? controllers.empty() : has_word(controllers, controller)) return line.substr(second + 1);
    }
    return std::nullopt;
}

// The group's path below the mount point. In a container the mounted root may be the group itself, or the group may lie
// outside the mount.
std::string below_mount(const std::string& path, const Mount& mount) {
    if (mount.root == "/") return path == "/" ? std::string() : path;
    if (path.compare(0, mount.root.size(), mount.root) == 0 &&
        (path.size() == mount.root.size() || path[mount.root.size()] == '/')) {
        return path.substr(mount.root.size());
    }
    return {};
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root) {
    std::vector<ControlGroup> groups;
    for (const Mount& mount : mounts(root, controller)) {
        const std::optional<std::string> path = group_path(root, mount.unified, controller);
        if (!path || path->find("/..") != std::string::npos) continue;
        for (std::string below = below_mount(*path, mount);; below.resize(below.rfind('/'))) {
            groups.push_back({root + mount.point + below, mount.unified});
            if (below.empty() || below.rfind('/') == std::string::npos) break;
        }
    }
    return groups;
}

}  // namespace cairn::device
