#pragma once

#include "cairn/context.hpp"
#include "device/command_buffer.hpp"
#include "device/cuda/address_ranges.hpp"
#include "device/cuda/driver_calls.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cairn::device::cuda {

/// Properties of a device.
struct DeviceProperties {
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    int multiprocessors = 0;
    std::int64_t l2_bytes = 0;
    std::size_t shared_bytes = 0;         ///< of a block, without opting in
    std::size_t opt_in_shared_bytes = 0;  ///< the most that a block can get
    std::size_t memory_bytes = 0;
    double clock_hz = 1e9, memory_clock_hz = 1e9;  ///< the highest
    int memory_bus_bits = 1024;

    /// Architecture of its machine code, with all features of the device: `sm_80`, `sm_90a`.
    std::string architecture() const;
};

/// One device: its primary context, which it shares with the host program, and a stream of its own. The device is never
/// reset, its limits and flags stay as they are, and only the stream is waited for. Thread-safe.
class CudaDevice {
public:
    /// Bytes to which allocations are aligned, as those of cuMemAlloc are.
    static constexpr std::size_t allocation_alignment = 256;

    /// Throws Error(unsupported) if there is no device of that index, else what DriverCalls throws.
    CudaDevice(std::shared_ptr<const DriverTable> driver, int index, DeviceAllocator allocator = {});
    ~CudaDevice();
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    Device device() const { return Device::cuda(index_); }
    const DeviceProperties& properties() const noexcept { return properties_; }
    DriverCalls& calls() noexcept { return calls_; }
    /// Its stream. It does not wait for the null stream of the host program.
    StreamHandle stream() const noexcept { return stream_; }
    ContextHandle context() const noexcept { return context_; }
    /// Waits until the work in the stream is complete. The context must be current.
    void synchronize() { calls_.call(&DriverTable::stream_synchronize, stream_); }
    /// The stream to use: the host program's, or that of the device. Throws Error(argument) for one that the host
    /// program is capturing into a graph. The context must be current.
    StreamHandle stream_of(const StreamOptions& options);
    /// Allocates memory of the device, of at least one byte. Throws Error(memory) with the bytes that are needed. The
    /// context must be current.
    DeviceAddress allocate(std::size_t bytes);
    /// Frees it, unless the device is lost or the process was forked.
    void free(DeviceAddress address, std::size_t bytes) noexcept;
    /// Cairn's allocations on the device.
    AddressRanges& addresses() noexcept { return addresses_; }
    const AddressRanges& addresses() const noexcept { return addresses_; }
    /// True for an address in the memory of the device, by whomever it was allocated; one allocation of Cairn holds all
    /// the bytes. The context must be current.
    bool holds(const void* address, std::size_t bytes = 0) noexcept {
        return addresses_.contains(address, bytes) ||
               (!addresses_.contains(address) && calls_.device_of_memory(address) == index_);
    }

private:
    DriverCalls calls_;
    int index_;
    DeviceHandle handle_ = 0;
    DeviceProperties properties_;
    ContextHandle context_ = nullptr;
    StreamHandle stream_ = nullptr;
    AddressRanges addresses_;
    DeviceAllocator allocator_;
};

/// Makes the context of a device current in this thread while it lives; afterwards the context is current that was
/// before. All functions of the driver but those that ask for properties need it.
class CurrentContext {
public:
    /// Throws what DriverCalls throws.
    explicit CurrentContext(CudaDevice& device) : CurrentContext(device.calls(), device.context()) {}
    CurrentContext(DriverCalls& calls, ContextHandle context) : calls_(calls) {
        calls.call(&DriverTable::context_push, context);
    }
    ~CurrentContext() {
        ContextHandle popped = nullptr;
        // Even if the device is lost: the thread's stack of contexts is the host's, and popping does not use the
        // device. A forked process has a stack of its own, which nothing can use.
        if (calls_.is_forked()) return;
        if (calls_.is_lost())
            calls_.driver().context_pop(&popped);
        else
            calls_.release(&DriverTable::context_pop, &popped);
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

private:
    DriverCalls& calls_;
};

/// Calls `free()`, which releases objects of the device, with its context current: for destructors. Does nothing if the
/// device is lost.
template <class Free>
void release_on(CudaDevice& device, const Free& free) noexcept {
    if (device.calls().is_lost()) return;
    try {
        const CurrentContext current(device);
        free();
    } catch (...) {
        // Without the context nothing can be freed.
    }
}

}  // namespace cairn::device::cuda
