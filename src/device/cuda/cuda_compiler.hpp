#pragma once

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/device_code.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace cairn::device::cuda {

/// Machine code that a device has loaded; the destructor unloads it.
class CudaModule {
public:
    /// The context must be current.
    CudaModule(std::shared_ptr<CudaDevice> device, const void* image);
    ~CudaModule();
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;

    ModuleHandle handle() const noexcept { return handle_; }

private:
    std::shared_ptr<CudaDevice> device_;
    ModuleHandle handle_ = nullptr;
};

/// A kernel that can be launched: what KernelLaunch::code points to.
struct CudaKernel {
    std::shared_ptr<const CudaModule> module;
    const CudaDevice* device = nullptr;
    FunctionHandle function = nullptr;
    unsigned block = 0, cluster = 1, shared_bytes = 0;
};

/// Compiles texts of kernels for one device and loads them. Many texts are one program of NVRTC, which takes much less
/// time than one program each. Code that is still in use is not compiled again. Thread-safe.
class CudaCompiler {
public:
    /// `prelude` begins each program.
    CudaCompiler(std::shared_ptr<CudaDevice> device, std::shared_ptr<Nvrtc> nvrtc, std::string prelude) noexcept
        : device_(std::move(device)), nvrtc_(std::move(nvrtc)), prelude_(std::move(prelude)) {}

    /// As Backend::compile.
    std::vector<std::shared_ptr<const void>> compile(std::span<const DeviceCode* const> texts);

private:
    using Texts = std::span<const DeviceCode* const>;
    using Modules = std::map<std::string, std::shared_ptr<const CudaModule>>;  // by text

    /// The texts, each once, that no loaded module has; the modules of the others are added to `modules`.
    std::vector<const DeviceCode*> missing(Texts texts, Modules& modules);
    /// Compiles distinct texts in one program, or in parts if that fails.
    void load(Texts texts, Modules& modules);
    std::shared_ptr<const CudaKernel> kernel(const DeviceCode& code, std::shared_ptr<const CudaModule> module);

    std::shared_ptr<CudaDevice> device_;
    std::shared_ptr<Nvrtc> nvrtc_;
    std::string prelude_;
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const CudaModule>> loaded_;  // by text
};

}  // namespace cairn::device::cuda
