#pragma once

#include "cairn/context.hpp"
#include "device/cuda/nvrtc.hpp"
#include "tests/device/cuda/stand_in_cublaslt.hpp"
#include "tests/device/cuda/stand_in_driver.hpp"
#include "tests/emulated_cuda/emulated_module.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {

struct EmulatedDeviceOptions {
    std::uint64_t seed = 1;  ///< of the orders in which threads run
    std::size_t memory_bytes = std::size_t{1} << 30;
    int compute_capability = 90;  ///< of the kernels that a Context offers
    /// Every access of a kernel is checked against those of earlier launches that may still run: takes several times as
    /// long. For one stream at a time.
    bool checks_accesses = false;
    /// Its Contexts have kernels that call cuBLASLt, for which a stand-in computes.
    bool has_cublaslt = false;
    std::string cublaslt_folder = {};  ///< in which cuBLASLt is searched instead of the stand-in
};

/// A CUDA device without a GPU: the backend for CUDA on the stand-in driver, whose kernels run in the emulator from the
/// text that NVRTC would compile. Machine code is that text, so that it can be kept for another device or process. At
/// most one exists at a time.
class EmulatedDevice {
public:
    static constexpr std::uint64_t random_graphs = 25;
    static constexpr int text_tokens = 4;

    explicit EmulatedDevice(const EmulatedDeviceOptions& options = {});
    ~EmulatedDevice();
    EmulatedDevice(const EmulatedDevice&) = delete;
    EmulatedDevice& operator=(const EmulatedDevice&) = delete;

    /// A Context with the device as cuda:0, at rates that make it faster than the CPU in everything. With a folder of
    /// CUDA's libraries it has their NVRTC and cuBLASLt, or none.
    Context context(ContextOptions options = {});
    Context process_context(ContextOptions options = {}) { return context(std::move(options)); }
    /// Broken rules of the driver, and what was not freed.
    std::vector<std::string> faults() const;
    std::int64_t launches() const noexcept { return launches_; }
    /// Launches that may have begun before the one before had ended.
    std::int64_t dependent_launches() const noexcept { return dependent_launches_; }
    /// Programs that were compiled.
    std::size_t compilations() const noexcept { return compilations_; }
    std::int64_t graph_launches() const { return driver_.count("cuGraphLaunch"); }
    /// Whose calls may be made to fail.
    device::cuda::StandInDriver& driver() noexcept { return driver_; }
    /// Of a device that has it.
    device::cuda::StandInCublaslt& cublaslt() noexcept { return *cublaslt_; }
    /// For the host program's own use of the device.
    std::shared_ptr<const device::cuda::DriverTable> driver_table() const { return driver_.table(); }
    /// An NVRTC that compiles for the emulator, for the device that exists.
    static std::shared_ptr<const device::cuda::NvrtcTable> nvrtc_table();

private:
    /// The kernels of a program, which is compiled once.
    device::cuda::StandInKernels compile(const std::string& text);
    device::cuda::Result load(const void* image, device::cuda::StandInKernels& kernels);
    /// What is allocated, with the accesses of earlier launches.
    emulated_cuda::GlobalMemory& global_memory();

    EmulatedDeviceOptions options_;
    device::cuda::StandInDriver driver_;
    std::optional<device::cuda::StandInCublaslt> cublaslt_;
    std::shared_ptr<device::cuda::Nvrtc> nvrtc_;
    std::mutex compiling_;
    std::map<std::string, device::cuda::StandInKernels> kernels_;  // of each program, by its text
    std::size_t compilations_ = 0;
    std::uint64_t seed_;
    std::int64_t launches_ = 0, dependent_launches_ = 0;
    emulated_cuda::GlobalMemory global_memory_;
    std::optional<std::uint64_t> memory_version_;  // of the driver's memory
};

}  // namespace cairn::test
