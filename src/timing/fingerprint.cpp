#include "timing/fingerprint.hpp"

#include "cairn/tuning.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/cpu_info.hpp"

#include <fmt/format.h>

#include <sys/utsname.h>

#include <fstream>

namespace cairn::inline v0::timing {
namespace {

std::string_view or_unknown(std::string_view text) { return text.empty() ? "unknown" : text; }

/// The governor of the first CPU; unknown where the system does not say.
std::string governor() {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    std::string name;
    file >> name;
    return name.empty() ? "unknown" : name;
}

}  // namespace

TimingEnvironment environment_of(const Context::Parts& context) {
    const device::CpuInfo cpu = device::cpu_info();
    TimingEnvironment environment;
    environment.hard = fmt::format(
        "cairn {} | {} | {} | family {} model {} stepping {} | L1d {} L2 {} L3 {} | {} of {} | threads {} cpus {}",
        version(), or_unknown(cpu.vendor), or_unknown(cpu.name), cpu.family, cpu.model, cpu.stepping, cpu.l1d_bytes,
        cpu.l2_bytes, cpu.l3_bytes, to_string(context.isa), to_string(cpu.isa), context.pool.size(),
        device::affinity_cpus());
    utsname system{};
    const bool known = uname(&system) == 0;
    environment.soft = fmt::format("{} {} | governor {}", known ? system.sysname : "unknown",
                                   known ? system.release : "unknown", governor());
    return environment;
}

}  // namespace cairn::inline v0::timing

namespace cairn::inline v0 {

TimingEnvironment timing_environment(const Context& context) { return timing::environment_of(*context.parts()); }

}  // namespace cairn::inline v0
