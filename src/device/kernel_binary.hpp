#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::device {

/// Machine code of kernels, as the compiler of a device made it from their texts (DeviceCode). It can be kept for other
/// processes.
struct KernelBinary {
    /// One for each kernel, 32 hexadecimal digits: a digest of everything that its code follows from, except for the
    /// version of the compiler.
    std::vector<std::string> keys;
    std::string architecture;      ///< that it runs on: `sm_90a`
    std::string device;            ///< name of the device that it was compiled for: `NVIDIA H100 80GB HBM3`
    std::string compiler;          ///< with its version: `NVRTC 13.0`
    std::vector<std::byte> image;  ///< as the driver loads it

    bool has(std::string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }
    friend bool operator==(const KernelBinary&, const KernelBinary&) = default;
};
using KernelBinaries = std::span<const std::shared_ptr<const KernelBinary>>;

/// Kernel binaries that outlive the process, each of one kernel. Thread-safe.
class KernelCache {
public:
    KernelCache() = default;
    virtual ~KernelCache();
    KernelCache(const KernelCache&) = delete;
    KernelCache& operator=(const KernelCache&) = delete;

    /// The binary of the kernel with this key; null if there is none.
    virtual std::shared_ptr<const KernelBinary> find(const std::string& key) = 0;
    /// Keeps a binary in place of the one with the same key. A failure is no error.
    virtual void store(const KernelBinary& binary) = 0;
};

}  // namespace cairn::device
