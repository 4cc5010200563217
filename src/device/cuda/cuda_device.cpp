#include "device/cuda/cuda_device.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <array>

namespace cairn::device::cuda {
namespace {

DeviceProperties properties_of(DriverCalls& calls, DeviceHandle device) {
    const auto value = [&](DeviceAttribute attribute) {
        int result = 0;
        calls.call(&DriverTable::device_attribute, &result, attribute, device);
        return result;
    };
    DeviceProperties properties;
    std::array<char, 256> name = {};
    calls.call(&DriverTable::device_name, name.data(), static_cast<int>(name.size()) - 1, device);
    properties.name = name.data();
    properties.major = value(DeviceAttribute::compute_capability_major);
    properties.minor = value(DeviceAttribute::compute_capability_minor);
    properties.multiprocessors = value(DeviceAttribute::multiprocessors);
    properties.l2_bytes = value(DeviceAttribute::l2_bytes);
    properties.shared_bytes = static_cast<std::size_t>(value(DeviceAttribute::max_shared_bytes_per_block));
    properties.opt_in_shared_bytes =
        static_cast<std::size_t>(value(DeviceAttribute::max_shared_bytes_per_block_opt_in));
    calls.call(&DriverTable::device_memory, &properties.memory_bytes, device);
    // Virtual devices report no clocks.
    if (const int khz = value(DeviceAttribute::clock_khz); khz > 0) properties.clock_hz = 1e3 * khz;
    if (const int khz = value(DeviceAttribute::memory_clock_khz); khz > 0) properties.memory_clock_hz = 1e3 * khz;
    if (const int bits = value(DeviceAttribute::memory_bus_bits); bits > 0) properties.memory_bus_bits = bits;
    return properties;
}

}  // namespace

std::string DeviceProperties::architecture() const {
    // From 9.0 on, some instructions exist in code for exactly one architecture only, which has a name of its own.
    return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

CudaDevice::CudaDevice(std::shared_ptr<const DriverTable> driver, int index, DeviceAllocator allocator)
    : calls_(std::move(driver), fmt::format("cuda:{}", index)), index_(index), allocator_(std::move(allocator)) {
    int count = 0;
    calls_.call(&DriverTable::device_count, &count);
    if (index < 0 || index >= count)
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("there is no device cuda:{}: the CUDA driver finds {} {}", index, count,
                                count == 1 ? "device" : "devices"));
    calls_.call(&DriverTable::device, &handle_, index);
    properties_ = properties_of(calls_, handle_);
    calls_.call(&DriverTable::primary_context_retain, &context_, handle_);
    try {
        const CurrentContext current(*this);
        calls_.call(&DriverTable::stream_create, &stream_, stream_non_blocking);
    } catch (...) {
        calls_.release(&DriverTable::primary_context_release, handle_);
        throw;
    }
}

StreamHandle CudaDevice::stream_of(const StreamOptions& options) {
    if (!options.stream) return stream_;
    const auto given = static_cast<StreamHandle>(*options.stream);
    CaptureStatus status = CaptureStatus::none;
    calls_.call(&DriverTable::capture_status, given, &status);
    if (status != CaptureStatus::none)
        throw Error(ErrorKind::argument, "cuda", "the stream is being captured into a graph, which a run cannot join");
    return given;
}

DeviceAddress CudaDevice::allocate(std::size_t bytes) {
    if (!allocator_.allocate) return calls_.allocate(bytes);
    calls_.throw_if_lost();
    const Device device = Device::cuda(index_);
    void* const memory = allocator_.allocate(device, bytes);
    if (memory == nullptr)
        throw Error(ErrorKind::memory, "cuda",
                    fmt::format("{} bytes are needed on cuda:{}, but the program's allocator has none", bytes, index_));
    const DeviceAddress address = address_of(memory);
    if (address % allocation_alignment == 0) return address;
    allocator_.release(device, memory, bytes);
    throw Error(ErrorKind::argument, "cuda",
                fmt::format("the program's allocator gave memory at {}, which is not aligned to {} bytes", memory,
                            allocation_alignment));
}

void CudaDevice::free(DeviceAddress address, std::size_t bytes) noexcept {
    if (!allocator_.allocate) return release_on(*this, [&] { calls_.release(&DriverTable::memory_free, address); });
    if (calls_.is_forked()) return;
    // Also if the device is lost: the program keeps an account of its own.
    std::optional<CurrentContext> current;
    try {
        if (!calls_.is_lost()) current.emplace(*this);
        allocator_.release(Device::cuda(index_), reinterpret_cast<void*>(address), bytes);
    } catch (...) {
        // Nothing else can be done with it.
    }
}

CudaDevice::~CudaDevice() {
    release_on(*this, [&] { calls_.release(&DriverTable::stream_destroy, stream_); });
    calls_.release(&DriverTable::primary_context_release, handle_);
}

}  // namespace cairn::device::cuda
