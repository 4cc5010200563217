#include "device/cuda/cublaslt_table.hpp"

#include <fmt/format.h>

namespace cairn::device::cuda {
namespace {

constexpr std::string_view library_name = "libcublasLt.so.13";

/// Name of the first function that the library lacks; null if it has all.
const char* resolve_cublaslt(const SharedLibrary& library, CublasltTable& table) {
#define CAIRN_CUDA_RESOLVE(symbol, member, parameters)                                       \
    table.member = reinterpret_cast<decltype(CublasltTable::member)>(library.find(#symbol)); \
    if (table.member == nullptr) return #symbol;
    CAIRN_CUDA_CUBLASLT_FUNCTIONS(CAIRN_CUDA_RESOLVE)
    CAIRN_CUDA_RESOLVE(cublasLtGetVersion, version, )
    CAIRN_CUDA_RESOLVE(cublasLtGetStatusName, status_name, )
#undef CAIRN_CUDA_RESOLVE
    return nullptr;
}

}  // namespace

OpenedCublaslt open_cublaslt(const LibraryFolders& folders) {
    const auto cublaslt = std::make_shared<CublasltTable>();
    const auto use = [&](SharedLibrary& library, const std::string& path) -> std::string {
        const char* const missing = resolve_cublaslt(library, *cublaslt);
        return missing == nullptr ? "" : fmt::format("{} is not cuBLASLt: it lacks the function {}", path, missing);
    };
    const std::string reasons = use_library(library_name, folders, use);
    if (reasons.empty()) return {cublaslt, {}};
    return {nullptr, "cuBLASLt was not found: " + reasons};
}

}  // namespace cairn::device::cuda
