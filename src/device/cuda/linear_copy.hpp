#pragma once

#include "device/cuda/cuda_device.hpp"

#include <cstddef>
#include <cstdint>

namespace cairn::device::cuda {

/// A copy of contiguous bytes from or to the memory of a device. The context must be current in all functions.
class LinearCopy {
public:
    enum class Direction : std::uint8_t { on_device, to_device, to_host };

    /// Sets addresses and size, and finds the direction unless it is known from the call before. Throws InternalError
    /// if there are bytes and neither address is in the memory of the device.
    void bind(std::byte* target, const std::byte* source, std::size_t bytes, CudaDevice& device);
    /// Submits the copy, which must have bytes.
    void submit(CudaDevice& device, StreamHandle stream) const;

    Direction direction() const noexcept { return direction_; }
    const std::byte* source() const noexcept { return source_; }
    std::byte* target() const noexcept { return target_; }
    std::size_t bytes() const noexcept { return bytes_; }
    bool operator==(const LinearCopy&) const = default;

private:
    const std::byte* source_ = nullptr;
    std::byte* target_ = nullptr;
    std::size_t bytes_ = 0;
    Direction direction_ = Direction::on_device;  // of a copy with bytes
};

}  // namespace cairn::device::cuda
