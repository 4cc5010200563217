#include "cairn/context.hpp"

#include <cstdlib>
#include <system_error>

// The only code of the library that reads environment variables; it runs only if a caller calls it by name.
namespace cairn::inline v0 {

std::filesystem::path default_timing_db() {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    if (cache != nullptr && *cache != '\0') return std::filesystem::path(cache) / "cairn" / "timings.db";
    if (home != nullptr && *home != '\0') return std::filesystem::path(home) / ".cache" / "cairn" / "timings.db";
    return {};
}

ContextOptions ContextOptions::command_line_defaults() {
    ContextOptions options;
    options.threads = usable_cpus();
    options.timing_db = default_timing_db();
    // If the folder cannot be created, the Context logs it.
    std::error_code fault;
    if (!options.timing_db.empty()) std::filesystem::create_directories(options.timing_db.parent_path(), fault);
    return options;
}

}  // namespace cairn::inline v0
