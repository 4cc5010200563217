#pragma once

#include "device/cuda/cublaslt.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/libraries/product_library.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace cairn::device::cuda {

/// Products on one device by cuBLASLt, with a handle that is created when it is first asked for something.
class CublasltProducts final : public ProductLibrary {
public:
    CublasltProducts(std::shared_ptr<CudaDevice> device, std::shared_ptr<Cublaslt> cublaslt);
    ~CublasltProducts() override;

    std::string refusal() override;
    void check(const LibraryProduct& product, int alignment) override;
    void enqueue(const LibraryProduct& product, const ProductOperands& operands, void* stream) override;

private:
    std::shared_ptr<CudaDevice> device_;
    std::shared_ptr<Cublaslt> cublaslt_;
    std::mutex creating_;
    std::optional<std::string> refusal_;  ///< empty until something was asked
    CublasltHandle handle_ = nullptr;
};

}  // namespace cairn::device::cuda
