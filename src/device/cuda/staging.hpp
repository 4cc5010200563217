#pragma once

#include "device/cuda/cuda_device.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

namespace cairn::device::cuda {

/// Two buffers of pinned host memory, through which large uploads go in turns: the device reads one while the host
/// fills the other. A copy from memory that is not pinned is several times slower. The buffers are allocated by the
/// first upload. Thread-safe.
class Staging {
public:
    static constexpr std::size_t default_bytes = std::size_t{16} << 20;

    /// `bytes`: of each buffer.
    explicit Staging(std::shared_ptr<CudaDevice> device, std::size_t bytes = default_bytes) noexcept
        : device_(std::move(device)), bytes_(bytes) {}
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    std::size_t bytes() const noexcept { return bytes_; }

    /// One upload; other threads wait. The context must be current. The destructor waits for the device, since the next
    /// upload takes the same buffers.
    class Upload {
    public:
        explicit Upload(Staging& staging);
        ~Upload();
        Upload(const Upload&) = delete;
        Upload& operator=(const Upload&) = delete;

        /// A buffer of Staging::bytes() bytes that the device does not read.
        std::byte* next();
        /// To be called after the copies from that buffer have been submitted.
        void submitted();

    private:
        Staging& staging_;
        std::unique_lock<std::mutex> lock_;
    };

private:
    struct Buffer {
        void* data = nullptr;
        EventHandle read = nullptr;  ///< recorded after the copies from it
        bool in_use = false;
    };

    std::shared_ptr<CudaDevice> device_;
    std::size_t bytes_;
    std::mutex mutex_;
    std::array<Buffer, 2> buffers_;
    std::size_t turn_ = 0;
};

}  // namespace cairn::device::cuda
