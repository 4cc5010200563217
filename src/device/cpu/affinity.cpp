#include "device/cpu/affinity.hpp"

#include "device/cpu/cgroup.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>

namespace cairn::device {
namespace {

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

}  // namespace

std::optional<double> cgroup_quota(const std::string& root) {
    std::optional<double> least;
    for (const ControlGroup& group : control_groups("cpu", root)) {
        const std::optional<double> quota = quota_of_group(group.folder, group.unified);
        if (quota && (!least || *quota < *least)) least = quota;
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
    } catch (...) {  // out of memory: count the online CPUs
    }
    return static_cast<int>(std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, 1L << 20));
}

int usable_cpus() noexcept {
    const int cpus = affinity_cpus();
    try {
        if (const auto quota = cgroup_quota()) return std::clamp(static_cast<int>(std::min(*quota, 1e6)), 1, cpus);
    } catch (...) {  // out of memory while reading: use the mask
    }
    return cpus;
}

}  // namespace cairn::device
