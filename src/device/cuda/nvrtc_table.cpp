#include "device/cuda/nvrtc_table.hpp"

#include <fmt/format.h>

namespace cairn::device::cuda {
namespace {

constexpr std::string_view library_name = "libnvrtc.so.13";

/// Name of the first function that the library lacks; null if it has all.
const char* resolve_nvrtc(const SharedLibrary& library, NvrtcTable& table) {
#define CAIRN_CUDA_RESOLVE(symbol, member, parameters)                                    \
    table.member = reinterpret_cast<decltype(NvrtcTable::member)>(library.find(#symbol)); \
    if (table.member == nullptr) return #symbol;
    CAIRN_CUDA_NVRTC_FUNCTIONS(CAIRN_CUDA_RESOLVE)
#undef CAIRN_CUDA_RESOLVE
    table.error_name = reinterpret_cast<decltype(NvrtcTable::error_name)>(library.find("nvrtcGetErrorString"));
    return table.error_name == nullptr ? "nvrtcGetErrorString" : nullptr;
}

/// Opens the built-in functions beside NVRTC, or else where the loader finds them; gives the reason if there are none.
std::string open_builtins(const NvrtcTable& nvrtc, const std::string& path) {
    int major = 0, minor = 0;
    if (nvrtc.version(&major, &minor) != NvrtcResult::success) return path + " does not tell its version";
    const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
    const std::string folder = folder_of_symbol(reinterpret_cast<const void*>(nvrtc.version));
    auto beside = open_library(folder + name);
    if (beside.shared_library == nullptr && !folder.empty()) beside.shared_library = open_library(name).shared_library;
    if (beside.shared_library == nullptr)
        return fmt::format("{} cannot compile without its library of built-in functions: {}", path, beside.reason);
    beside.shared_library->keep_loaded();
    return {};
}

}  // namespace

OpenedNvrtc open_nvrtc(const LibraryFolders& folders) {
    const auto nvrtc = std::make_shared<NvrtcTable>();
    const auto use = [&](SharedLibrary& library, const std::string& path) -> std::string {
        if (const char* const missing = resolve_nvrtc(library, *nvrtc))
            return fmt::format("{} is not NVRTC: it lacks the function {}", path, missing);
        library.keep_loaded();  // it leaks when it is unloaded, also if it is not used
        return open_builtins(*nvrtc, path);
    };
    const std::string reasons = use_library(library_name, folders, use);
    if (reasons.empty()) return {nvrtc, {}};
    return {nullptr, "NVRTC, the compiler of CUDA kernels, cannot be opened: " + reasons};
}

}  // namespace cairn::device::cuda
