#include "device/cpu/free_memory.hpp"

#include "device/cpu/cgroup.hpp"

#include <algorithm>
#include <fstream>

namespace cairn::device {
namespace {

/// `MemAvailable:   23456789 kB`
std::optional<std::int64_t> available(const std::string& root) {
    std::ifstream file(root + "/proc/meminfo");
    for (std::string word; file >> word;) {
        std::int64_t kib = 0;
        if (word == "MemAvailable:" && file >> kib) return kib * 1024;
    }
    return std::nullopt;
}

std::optional<std::int64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    if (file >> number) return number;  // `max` means no limit
    return std::nullopt;
}

/// Bytes of file pages that a group counts as used although they can be reclaimed.
std::int64_t reclaimable(const ControlGroup& group) {
    std::ifstream file(group.folder + "/memory.stat");
    const std::string wanted = group.unified ? "inactive_file" : "total_inactive_file";
    std::int64_t bytes = 0;
    for (std::string word; file >> word >> bytes;)
        if (word == wanted) return bytes;
    return 0;
}

std::optional<std::int64_t> left_in(const ControlGroup& group) {
    const auto most = number_in(group.folder + (group.unified ? "/memory.max" : "/memory.limit_in_bytes"));
    const auto used = number_in(group.folder + (group.unified ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!most || !used) return std::nullopt;
    return std::max<std::int64_t>(*most - *used + std::min(reclaimable(group), *used), 0);
}

}  // namespace

std::optional<std::int64_t> free_memory(const std::string& root) {
    std::optional<std::int64_t> least = available(root);
    for (const ControlGroup& group : control_groups("memory", root))
        if (const std::optional<std::int64_t> left = left_in(group)) least = least ? std::min(*least, *left) : left;
    return least;
}

}  // namespace cairn::device
