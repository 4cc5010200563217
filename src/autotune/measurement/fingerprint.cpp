#include "autotune/measurement/fingerprint.hpp"

#include "cairn/tuning.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/topology.hpp"

#include <fmt/format.h>

#include <sys/utsname.h>

#include <fstream>
#include <optional>
#include <string>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace cairn::autotune {
namespace {

std::string_view or_unknown(std::string_view text) { return text.empty() ? "unknown" : text; }

std::string first_word(const char* path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word.empty() ? "unknown" : word;
}

/// Values of the first CPU; unknown if the system does not report them.
std::string governor() { return first_word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); }
std::string microcode() { return first_word("/sys/devices/system/cpu/cpu0/microcode/version"); }

/// `[madvise]` of `always [madvise] never`.
std::string huge_pages() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    for (std::string word; file >> word;)
        if (word.starts_with('[')) return word;
    return "unknown";
}

/// CPU quota of the control group, in CPUs.
std::string quota() {
    const std::optional<double> cpus = device::cgroup_quota();
    return cpus ? fmt::format("{}", *cpus) : "none";
}

std::string c_library() {
#if defined(__GLIBC__)
    return fmt::format("glibc {}", gnu_get_libc_version());
#else
    return "unknown";
#endif
}

}  // namespace

TimingEnvironment environment_of(const Context::Impl& context) {
    const device::CpuInfo cpu = device::cpu_info();
    TimingEnvironment environment;
    environment.hard = fmt::format(
        "cairn {} | {} | {} | family {} model {} stepping {} | L1d {} L2 {} L3 {} | {} of {} | threads {} cpus {} "
        "quota {} | {}",
        version(), or_unknown(cpu.vendor), or_unknown(cpu.name), cpu.family, cpu.model, cpu.stepping, cpu.l1d_bytes,
        cpu.l2_bytes, cpu.l3_bytes, to_string(context.features), to_string(cpu.features), context.pool.size(),
        device::topology_of(device::affinity_mask()), quota(), or_unknown(context.kernels.build));
    utsname system{};
    const bool known = uname(&system) == 0;
    environment.soft =
        fmt::format("{} {} | governor {} | microcode {} | huge pages {} | {}", known ? system.sysname : "unknown",
                    known ? system.release : "unknown", governor(), microcode(), huge_pages(), c_library());
    return environment;
}

TimingEnvironment environment_of(const Context::Impl& context, Device device) {
    TimingEnvironment environment = environment_of(context);
    for (const DeviceRates& rates : context.kernels.devices)
        if (rates.device == device)
            environment.hard =
                fmt::format("{} {} beside {}", to_string(device), or_unknown(rates.name), environment.hard);
    return environment;
}

}  // namespace cairn::autotune

namespace cairn::inline v0 {

TimingEnvironment timing_environment(const Context& context) { return autotune::environment_of(*context.impl()); }

}  // namespace cairn::inline v0
