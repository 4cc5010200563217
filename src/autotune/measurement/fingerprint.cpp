#include "autotune/measurement/fingerprint.hpp"

#include "cairn/tuning.hpp"

#include <fmt/format.h>

#include <sys/utsname.h>

#include <fstream>
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

std::string c_library() {
#if defined(__GLIBC__)
    return fmt::format("glibc {}", gnu_get_libc_version());
#else
    return "unknown";
#endif
}

}  // namespace

TimingEnvironment environment_of(const Context::Impl& context) {
    TimingEnvironment environment;
    environment.hard = fmt::format("cairn {} | {} | {}", version(), context.cpu->fingerprint(context.features),
                                   or_unknown(context.kernels.build));
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
