#include "autotune/measurement/fingerprint.hpp"

#include "cairn/tuning.hpp"

#include <fmt/format.h>

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

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

/// False for the CPU and for a device that is simulated.
bool has_backend(const Context::Impl& context, Device device) {
    return device != Device::cpu && context.opened(device) != nullptr;
}

/// The device that times depend on, by its rates or, if these do not name it, by what it is. Only the latter asks the
/// device, which opens its compiler: a program that is loaded with its code needs none.
std::string device_name(const Context::Impl& context, const DeviceRates& rates) {
    const device::Backend* const backend = rates.name.empty() ? context.opened(rates.device) : nullptr;
    return backend != nullptr ? backend->fingerprint({}) : std::string(or_unknown(rates.name));
}

/// Vendor, name and model of the CPU: the first three parts of its fingerprint.
std::string host_of(const Context::Impl& context) {
    constexpr std::string_view between = " | ";
    std::string text = context.cpu->fingerprint(context.features);
    std::size_t end = 0;
    for (int part = 0; part < 3 && end != text.npos; ++part)
        end = text.find(between, part == 0 ? 0 : end + between.size());
    return text.substr(0, end);
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
    for (const DeviceRates& rates : context.kernels.devices) {
        if (rates.device != device) continue;
        if (!has_backend(context, device)) {
            environment.hard =
                fmt::format("{} {} beside {}", to_string(device), or_unknown(rates.name), environment.hard);
            break;
        }
        environment.hard =
            fmt::format("cairn {} | {} | {}", version(), to_string(Device{device.kind, 0}), device_name(context, rates));
        if (const std::string& build = context.options.extra.build; !build.empty()) environment.hard += " | " + build;
    }
    return environment;
}

TimingEnvironment link_environment_of(const Context::Impl& context, Device device) {
    TimingEnvironment environment = environment_of(context, device);
    if (has_backend(context, device))
        environment.hard += fmt::format(" | link of {} to {}", to_string(device), host_of(context));
    return environment;
}

TimingEnvironment program_environment_of(const Context::Impl& context) {
    TimingEnvironment environment = environment_of(context);
    std::string devices;
    for (const DeviceRates& rates : context.kernels.devices) {
        const std::string device = environment_of(context, rates.device).hard;
        devices += (devices.empty() ? "" : " and ") + device;
    }
    if (!devices.empty()) environment.hard = devices + " beside " + environment.hard;
    return environment;
}

TimingPolicy policy_of(const Context::Impl& context, Device device) {
    TimingPolicy policy;
    policy.threads = context.backend(device).threads();
    return policy;
}

}  // namespace cairn::autotune

namespace cairn::inline v0 {

TimingEnvironment timing_environment(const Context& context) { return autotune::environment_of(*context.impl()); }

TimingEnvironment timing_environment(const Context& context, Device device) {
    const Context::Impl& impl = *context.impl();
    if (!has_device(impl.kernels.devices, device))
        throw Error(ErrorKind::argument, "timing_environment",
                    fmt::format("this Context has no device {}", to_string(device)));
    return autotune::environment_of(impl, device);
}

std::vector<TimingEnvironment> timing_environments(const Context& context) {
    const Context::Impl& impl = *context.impl();
    std::vector<TimingEnvironment> all{autotune::environment_of(impl)};
    for (const DeviceRates& rates : impl.kernels.devices) {
        all.push_back(autotune::environment_of(impl, rates.device));
        all.push_back(autotune::link_environment_of(impl, rates.device));
    }
    if (all.size() > 1) all.push_back(autotune::program_environment_of(impl));
    return all;
}

}  // namespace cairn::inline v0
