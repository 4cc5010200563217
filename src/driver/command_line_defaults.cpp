#include "cairn/context.hpp"

#include <cstdlib>
#include <system_error>

// The only code of the library that reads environment variables; it runs only if a caller calls it by name.
namespace cairn::inline v0 {

namespace {

/// The user's cache folder of Cairn; empty if there is none.
std::filesystem::path cache_folder() {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    if (cache != nullptr && *cache != '\0') return std::filesystem::path(cache) / "cairn";
    if (home != nullptr && *home != '\0') return std::filesystem::path(home) / ".cache" / "cairn";
    return {};
}

std::filesystem::path in_cache_folder(const char* name) {
    const std::filesystem::path folder = cache_folder();
    return folder.empty() ? folder : folder / name;
}

}  // namespace

std::filesystem::path default_timing_db() { return in_cache_folder("timings.db"); }

std::filesystem::path default_kernel_cache() { return in_cache_folder("kernels"); }

ContextOptions ContextOptions::command_line_defaults() {
    ContextOptions options;
    options.threads = usable_cpus();
    options.timing_db = default_timing_db();
    options.kernel_cache = default_kernel_cache();
    // If the folders cannot be created, the Context logs it.
    std::error_code fault;
    if (!options.kernel_cache.empty()) std::filesystem::create_directories(options.kernel_cache, fault);
    return options;
}

}  // namespace cairn::inline v0
