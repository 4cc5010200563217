#pragma once

#include "cairn/context.hpp"
#include "device/backend.hpp"
#include "device/cuda/cublaslt.hpp"
#include "device/cuda/driver_table.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/libraries/product_library.hpp"

#include <memory>
#include <string>

namespace cairn::device::cuda {

/// Options of a CUDA backend beside its device and libraries.
struct CudaBackendOptions {
    /// Text before the kernels of each program that is compiled: that of kernels/cuda/text, which the probes of a
    /// calibration use, too.
    std::string prelude = {};
    /// Kernels run as captured CUDA graphs; else they are launched one by one: slower, with the same bits.
    bool graphs = true;
    /// Kernels of a graph that wait for their dependencies themselves begin before these have ended.
    bool dependent_launches = true;
    std::shared_ptr<KernelCache> cache = {};  ///< of compiled kernels; null: none
    DeviceAllocator allocator = {};           ///< of its memory; empty: the driver
    std::shared_ptr<Cublaslt> cublaslt = {};  ///< null: kernels call no library
};

/// Where the libraries of CUDA are, and the options of the backend.
struct CudaOptions {
    std::string driver = "libcuda.so.1";  ///< path, or name for the loader's search
    LibraryFolders folders = {};          ///< of NVRTC and cuBLASLt
    CudaBackendOptions backend = {};
};

/// A CUDA device, and what selection has to know about it.
struct OpenedDevice {
    std::unique_ptr<Backend> backend;
    DeviceRates rates;           ///< nominal, from the properties of the device
    int compute_capability = 0;  ///< 90 for 9.0
    /// Its products by cuBLASLt, which is opened when they are first needed; null without CudaBackendOptions::cublaslt.
    std::shared_ptr<ProductLibrary> products = {};
};
/// cuda_backend(index, options) with the device's rates; cuBLASLt of the folders unless the options have one.
OpenedDevice open_device(int index, const CudaOptions& options = {});
/// The same with these functions, such as those of a test. The driver must be initialised.
OpenedDevice open_device(int index, std::shared_ptr<const DriverTable> driver, std::shared_ptr<Nvrtc> nvrtc,
                         CudaBackendOptions options);

/// The CUDA device of this index. NVRTC is opened when it is first needed. Throws Error(unsupported) with the reason if
/// there is no driver that can be used or no such device.
std::unique_ptr<Backend> cuda_backend(int index, const CudaOptions& options = {});

/// The same with these functions, such as those of a test. The driver must be initialised.
std::unique_ptr<Backend> cuda_backend(int index, std::shared_ptr<const DriverTable> driver,
                                      std::shared_ptr<Nvrtc> nvrtc, CudaBackendOptions options = {});

}  // namespace cairn::device::cuda
