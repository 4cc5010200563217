#pragma once

#include "cairn/context.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cairn::inline v0 {

/// The GPUs that the CUDA driver reports, or why there are none.
struct FoundDevices {
    std::vector<Device> devices;  ///< `cuda`, `cuda:1` and so on
    std::string reason;           ///< if there are none: why, as one sentence without its end
    bool has_driver = false;      ///< a library of the driver's name was opened, whether or not it can be used
};

/// Searches for GPUs: opens the CUDA driver, as ContextOptions::cuda_driver names it, and nothing else.
CAIRN_API FoundDevices find_devices(const std::filesystem::path& cuda_driver = {});

/// Facts about a GPU.
struct DeviceInfo {
    std::string name;                               ///< `NVIDIA H100 80GB HBM3`
    int compute_capability = 0;                     ///< 90 for 9.0
    int multiprocessors = 0;                        ///< number of them
    std::int64_t cache_bytes = 0;                   ///< size of its L2 cache
    std::int64_t memory_bytes = 0, free_bytes = 0;  ///< size of its memory, and how much of it can be allocated
    std::string driver;    ///< version of CUDA that the driver supports, and its release if known: `13.0 (580.82.07)`
    std::string compiler;  ///< version of NVRTC: `13.0`; empty if it cannot be opened
    std::string compiler_path;  ///< the library that NVRTC was opened from, or why it cannot be opened
    std::string cublaslt;       ///< version of cuBLASLt: `13.0.2`; empty if it cannot be opened
    std::string cublaslt_path;  ///< the library that cuBLASLt was opened from, or why it cannot be opened
};

/// Facts about a GPU of a Context, read now. Throws Error(argument) for a device that the Context has not opened, and
/// Error(unsupported) if the device can no longer be used.
CAIRN_API DeviceInfo device_info(const Context& context, Device device);

}  // namespace cairn::inline v0
