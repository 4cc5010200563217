#include "device/cuda/cublaslt.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace cairn::device::cuda {

Cublaslt::Cublaslt(LibraryFolders folders) : folders_(std::move(folders)) {}
Cublaslt::Cublaslt(std::shared_ptr<const CublasltTable> cublaslt)
    : was_opened_(true), opened_{std::move(cublaslt), {}} {}

const CublasltTable& Cublaslt::table() {
    const std::lock_guard lock(opening_);
    if (!was_opened_) opened_ = open_cublaslt(folders_);
    was_opened_ = true;
    if (opened_.cublaslt == nullptr) throw Error(ErrorKind::unsupported, "cuda", opened_.reason);
    return *opened_.cublaslt;
}

std::string Cublaslt::version() {
    const std::size_t version = table().version();
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string Cublaslt::path() { return library_of_symbol(reinterpret_cast<const void*>(table().version)); }

}  // namespace cairn::device::cuda
