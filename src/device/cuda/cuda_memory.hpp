#pragma once

#include "device/cuda/staging.hpp"
#include "device/memory.hpp"

#include <cstddef>
#include <memory>

namespace cairn::device::cuda {

/// Memory of a CUDA device: one allocation, committed as a whole when it is made. Copies go through the device's stream
/// and are complete when they return.
class CudaMemory final : public Memory {
public:
    /// Throws Error(memory) with the bytes that are needed and free.
    static std::unique_ptr<CudaMemory> make(std::shared_ptr<CudaDevice> device, std::shared_ptr<Staging> staging,
                                            std::size_t bytes);
    ~CudaMemory() override;

    void touch(std::size_t offset, std::size_t bytes) override;

    /// Bytes of an upload from which on it goes through the staging buffers. The driver copies smaller ones by way of
    /// pinned memory of its own.
    static constexpr std::size_t staged_bytes = std::size_t{1} << 20;

private:
    void read_rows(const MemoryRows& rows, std::byte* host) const override;
    void write_rows(const MemoryRows& rows, const std::byte* host) override;
    void clear_rows(const MemoryRows& rows) override;

    CudaMemory(std::shared_ptr<CudaDevice> device, std::shared_ptr<Staging> staging, DeviceAddress address,
               std::size_t bytes);
    DeviceAddress at(std::size_t offset) const noexcept;
    /// Submits a copy of rows whose distance the driver supports.
    void upload(const MemoryRows& rows, const std::byte* host);
    /// Calls `copy(rows)` and waits for the device, also if it throws.
    template <class Copy>
    void run(const MemoryRows& rows, const Copy& copy) const;

    std::shared_ptr<CudaDevice> device_;
    std::shared_ptr<Staging> staging_;
};

}  // namespace cairn::device::cuda
