#pragma once

#include "device/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

namespace cairn::test {

/// A second device whose memory the host cannot access: its addresses are mapped without any permission, and its
/// kernels, which are the CPU's, use a second mapping of the same pages. A kernel that gets an operand of the wrong
/// memory throws InternalError; host code that follows an address of the device crashes.
class PrivateMemoryBackend final : public device::Backend {
public:
    /// `memory`: bytes that the device has. `device`: what a Context calls it.
    explicit PrivateMemoryBackend(int threads, std::int64_t memory = std::numeric_limits<std::int64_t>::max(),
                                  Device device = Device::cuda());
    ~PrivateMemoryBackend() override;

    std::unique_ptr<device::Memory> reserve(std::size_t bytes, device::MemoryUse use) override;
    std::size_t page_bytes() const noexcept override { return 256; }
    std::optional<Device> device_of_memory(const void* address) const noexcept override;
    void copy(std::byte* target, const std::byte* source, std::size_t bytes) override;
    std::optional<std::int64_t> free_memory() const override;
    std::vector<std::shared_ptr<const void>> compile(std::span<const device::DeviceCode* const> texts,
                                                     const device::CompileRequest& request) override;
    std::unique_ptr<device::CommandBuffer> record(std::span<const device::KernelLaunch> launches,
                                                  std::span<const std::int64_t> symbols) override;
    double time(const device::TimedCalls& calls, std::optional<device::Failure>& failure) override;
    int threads() const noexcept override;
    FeatureSet features() const override;
    device::CacheSizes caches() const override { return {}; }
    std::string fingerprint(const FeatureSet& enabled) const override;

private:
    class AddressMap;
    class Allocation;
    class Commands;

    std::shared_ptr<AddressMap> addresses_;
    std::unique_ptr<device::CpuBackend> cpu_;
    Device device_;
};

}  // namespace cairn::test
