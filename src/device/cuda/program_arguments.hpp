#pragma once

#include "device/command_buffer.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/device_code.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cairn::device::cuda {

/// Arguments that all kernels of a program share: the symbols' values, in device memory, and the failure record, in
/// pinned host memory that the device can access, so that a run without a failure does not touch it.
class ProgramArguments {
public:
    /// `symbols` must stay where they are.
    ProgramArguments(std::shared_ptr<CudaDevice> device, std::span<const std::int64_t> symbols);
    ~ProgramArguments();
    ProgramArguments(const ProgramArguments&) = delete;
    ProgramArguments& operator=(const ProgramArguments&) = delete;

    DeviceAddress symbols() const noexcept { return symbols_; }  ///< 0 if there are none
    DeviceAddress status() const noexcept { return status_; }

    /// Submits writes of those words of the symbols' values that are not those submitted last. The values are read
    /// before it returns. The context must be current.
    void submit_symbols(StreamHandle stream);
    /// Makes the failure record empty, or tells the first failure that a kernel has reported since then, with the
    /// kernel's instruction in `instruction`. All work must be complete.
    void clear_failure() noexcept;
    std::optional<Failure> failure(std::int64_t& instruction) const;

private:
    std::shared_ptr<CudaDevice> device_;
    std::span<const std::int64_t> values_;
    std::byte* pinned_ = nullptr;  // the failure record
    DeviceAddress status_ = 0, symbols_ = 0;
    std::vector<std::optional<std::uint32_t>> words_;  // of the values submitted last; empty: unknown
};

}  // namespace cairn::device::cuda
