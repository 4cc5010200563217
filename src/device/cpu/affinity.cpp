#include "device/cpu/affinity.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

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

// A line of mountinfo: id parent device root point options [optional fields...] - type source super-options.
std::optional<Mount> parse_mount(const std::string& line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) return std::nullopt;
    std::istringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
    std::string id, parent, device, type, source, options;
    Mount mount;
    if (!(head >> id >> parent >> device >> mount.root >> mount.point) || !(tail >> type >> source >> options))
        return std::nullopt;
    mount.unified = type == "cgroup2";
    if (!mount.unified && !(type == "cgroup" && has_word(options, "cpu"))) return std::nullopt;
    return mount;
}

std::vector<Mount> mounts(const std::string& root) {
    std::vector<Mount> found;
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        if (auto mount = parse_mount(line)) found.push_back(*std::move(mount));
    }
    return found;
}

// This process's group in the unified hierarchy, or in that of version 1 with the cpu controller: lines
// `id:controllers:path`.
std::optional<std::string> group_path(const std::string& root, bool unified) {
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        if (unified ? controllers.empty() : has_word(controllers, "cpu")) return line.substr(second + 1);
    }
    return std::nullopt;
}

std::optional<double> ratio(double quota, double period) {
    if (!(quota > 0) || !(period > 0)) return std::nullopt;
    return quota / period;
}

std::optional<double> quota_of_group(const std::string& folder, bool unified) {
    double quota = 0, period = 0;
    if (unified) {
        std::ifstream file(folder + "/cpu.max");  // `max 100000` or `150000 100000`
        if (file >> quota >> period) return ratio(quota, period);
        return std::nullopt;
    }
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");  // -1: none
    if (quota_file >> quota && period_file >> period) return ratio(quota, period);
    return std::nullopt;
}

// The group's path below the mount point. A container may see a hierarchy whose root is its own group, or a group
// outside of it.
std::string below_mount(const std::string& path, const Mount& mount) {
    if (mount.root == "/") return path == "/" ? std::string() : path;
    if (path.compare(0, mount.root.size(), mount.root) == 0 &&
        (path.size() == mount.root.size() || path[mount.root.size()] == '/')) {
        return path.substr(mount.root.size());
    }
    return {};
}

}  // namespace

std::optional<double> cgroup_quota(const std::string& root) {
    std::optional<double> least;
    for (const Mount& mount : mounts(root)) {
        const std::optional<std::string> path = group_path(root, mount.unified);
        if (!path || path->find("/..") != std::string::npos) continue;
        for (std::string below = below_mount(*path, mount);; below.resize(below.rfind('/'))) {
            const std::optional<double> quota = quota_of_group(root + mount.point + below, mount.unified);
            if (quota && (!least || *quota < *least)) least = quota;
            if (below.empty() || below.rfind('/') == std::string::npos) break;
        }
    }
    return least;
}

std::vector<int> affinity_mask() {
    std::vector<int> cpus;
#if defined(__linux__)
    for (int room = 1024; room <= (1 << 20); room *= 2) {
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
        const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(room)),
                                                                   [](cpu_set_t* it) { CPU_FREE(it); });
        if (!set) break;
        if (sched_getaffinity(0, bytes, set.get()) == 0) {
            for (int cpu = 0; cpu < room; ++cpu)
                if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cpus.push_back(cpu);
            break;
        }
        if (errno != EINVAL) break;  // EINVAL: the machine has more CPUs than there is room for
    }
#endif
    return cpus;
}

int affinity_cpus() noexcept {
    try {
        if (const std::vector<int> cpus = affinity_mask(); !cpus.empty()) return static_cast<int>(cpus.size());
    } catch (...) {  // out of memory: go by what is on
    }
    return static_cast<int>(std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, 1L << 20));
}

int usable_cpus() noexcept {
    const int cpus = affinity_cpus();
    try {
        if (const auto quota = cgroup_quota()) return std::clamp(static_cast<int>(std::min(*quota, 1e6)), 1, cpus);
    } catch (...) {  // out of memory while reading: go by the mask
    }
    return cpus;
}

}  // namespace cairn::device
