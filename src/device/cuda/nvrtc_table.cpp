#include "device/cuda/nvrtc_table.hpp"

#include <fmt/format.h>

#include <utility>

namespace cairn::device::cuda {
namespace {

constexpr std::string_view library_name = "libnvrtc.so.13";

/// The table together with the libraries that it needs.
struct OpenNvrtcTable {
    std::shared_ptr<const SharedLibrary> library, builtins;
    NvrtcTable table;
};

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
std::string open_builtins(OpenNvrtcTable& open, const std::string& path) {
    int major = 0, minor = 0;
    if (open.table.version(&major, &minor) != NvrtcResult::success) return path + " does not tell its version";
    const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
    const std::string folder = folder_of_symbol(reinterpret_cast<const void*>(open.table.version));
    auto beside = open_library(folder + name);
    if (beside.library == nullptr && !folder.empty()) beside.library = open_library(name).library;
    if (beside.library == nullptr)
        return fmt::format("{} cannot compile without its library of built-in functions: {}", path, beside.reason);
    open.builtins = std::move(beside.library);
    return {};
}

/// Opens NVRTC at one path; gives the reason if it cannot be used.
std::string open_at(const std::string& path, OpenNvrtcTable& open) {
    auto [library, reason] = open_library(path);
    if (library == nullptr) return reason;
    open.library = std::move(library);
    if (const char* const missing = resolve_nvrtc(*open.library, open.table))
        return fmt::format("{} is not NVRTC: it lacks the function {}", path, missing);
    return open_builtins(open, path);
}

}  // namespace

OpenedNvrtc open_nvrtc(const LibraryFolders& folders) {
    std::string reasons;
    for (const std::string& path : library_paths(library_name, folders)) {
        const auto open = std::make_shared<OpenNvrtcTable>();
        const std::string reason = open_at(path, *open);
        if (reason.empty()) return {std::shared_ptr<const NvrtcTable>(open, &open->table), {}};
        reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    return {nullptr, "NVRTC, the compiler of CUDA kernels, cannot be opened: " + reasons};
}

}  // namespace cairn::device::cuda
