#include "device/cuda/driver_table.hpp"

#include "device/cuda/shared_library.hpp"

#include <fmt/format.h>

namespace cairn::device::cuda {
namespace {

/// Sets a member to the symbol's address; false if the library lacks it.
template <class Function>
bool resolve(const SharedLibrary& library, const char* symbol, Function*& member) {
    member = reinterpret_cast<Function*>(library.find(symbol));
    return member != nullptr;
}

/// Name of the first function that the library lacks; null if it has all.
const char* resolve_opening_functions(const SharedLibrary& library, DriverTable& table) {
#define CAIRN_CUDA_RESOLVE(symbol, member, parameters) \
    if (!resolve(library, #symbol, table.member)) return #symbol;
    CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_CUDA_RESOLVE)
    return nullptr;
}

const char* resolve_functions(const SharedLibrary& library, DriverTable& table) {
    CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_CUDA_RESOLVE)
#undef CAIRN_CUDA_RESOLVE
    return nullptr;
}

/// The reason why `result` of cuInit rules the driver out; empty for success.
std::string refusal(const DriverTable& table, Result result, const std::string& path) {
    switch (result) {
        case Result::success: return {};
        case Result::stub_library:
            return fmt::format("{} is the stub library of a CUDA toolkit, with which programs are linked, not a driver",
                               path);
        case Result::no_device: return "the CUDA driver finds no device";
        case Result::not_initialized:
            return "the CUDA driver cannot be initialised in a child process whose parent had initialised it before "
                   "fork()";
        default: return "the CUDA driver cannot be initialised: cuInit returns " + describe(table, result);
    }
}

/// Resolves and calls; the reason is empty if the driver can be used.
std::string prepare(const SharedLibrary& library, DriverTable& table, OpenedDriver& opened, const std::string& path) {
    if (const char* const missing = resolve_opening_functions(library, table))
        return fmt::format("{} is not a CUDA driver: it lacks the function {}", path, missing);
    if (std::string reason = refusal(table, table.init(0), path); !reason.empty()) return reason;
    if (const Result result = table.driver_version(&opened.version); result != Result::success)
        return "the version of the CUDA driver is unknown: cuDriverGetVersion returns " + describe(table, result);
    // Before the other functions: "too old" says more than the name of a function that an old driver lacks.
    if (opened.version < required_driver_version)
        return fmt::format("the CUDA driver supports CUDA {}, but {} or later is needed", version_text(opened.version),
                           version_text(required_driver_version));
    if (const char* const missing = resolve_functions(library, table))
        return fmt::format("the CUDA driver {} lacks the function {}", path, missing);
    if (const Result result = table.device_count(&opened.devices); result != Result::success)
        return "the number of CUDA devices is unknown: cuDeviceGetCount returns " + describe(table, result);
    if (opened.devices < 1) return "the CUDA driver finds no device";
    return {};
}

}  // namespace

OpenedDriver open_driver(const std::string& path) {
    OpenedDriver opened;
    auto [library, reason] = open_library(path);
    if (library == nullptr) {
        opened.reason = "the CUDA driver cannot be opened: " + reason;
        return opened;
    }
    opened.is_library = true;
    const auto table = std::make_shared<DriverTable>();
    opened.reason = prepare(*library, *table, opened, path);
    if (!opened.reason.empty()) return opened;
    library->keep_loaded();
    opened.driver = table;
    return opened;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string describe(const DriverTable& driver, Result result) {
    const char *name = nullptr, *text = nullptr;
    if (driver.error_name == nullptr || driver.error_name(result, &name) != Result::success) name = nullptr;
    if (driver.error_text == nullptr || driver.error_text(result, &text) != Result::success) text = nullptr;
    if (name == nullptr) return fmt::format("error {}", static_cast<unsigned>(result));
    if (text == nullptr) return name;
    return fmt::format("{} ({})", name, text);
}

}  // namespace cairn::device::cuda
