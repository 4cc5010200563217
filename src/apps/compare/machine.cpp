#include "apps/compare/machine.hpp"

#include "cairn/context.hpp"
#include "cairn/tuning.hpp"

#include <fmt/format.h>

#include <sys/utsname.h>

namespace cairn::compare {
namespace {

std::string os_text() {
    utsname names{};
    if (::uname(&names) != 0) return "unknown";
    return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

std::string compiler_text() {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

}  // namespace

Machine this_machine(std::int64_t threads) {
    const TimingEnvironment environment = timing_environment(Context({.threads = static_cast<int>(threads)}));
    return {environment.hard, environment.soft, os_text(), compiler_text(), std::string(version()), usable_cpus()};
}

}  // namespace cairn::compare
