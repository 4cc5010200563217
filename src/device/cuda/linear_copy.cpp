#include "device/cuda/linear_copy.hpp"

#include "cairn/error.hpp"

namespace cairn::device::cuda {
void LinearCopy::bind(std::byte* target, const std::byte* source, std::size_t bytes, CudaDevice& device) {
    const bool is_known = target == target_ && source == source_ && bytes <= bytes_;
    if (!is_known && bytes > 0) {
        const bool from_device = device.holds(source, bytes), to_device = device.holds(target, bytes);
        // A lost device holds nothing.
        device.calls().throw_if_lost();
        if (!from_device && !to_device)
            throw InternalError("cuda", "neither operand of a copy is in the memory of the device");
        direction_ = from_device && to_device ? Direction::on_device
                     : from_device            ? Direction::to_host
                                              : Direction::to_device;
    }
    source_ = source;
    target_ = target;
    bytes_ = bytes;
}

void LinearCopy::submit(CudaDevice& device, StreamHandle stream) const {
    DriverCalls& calls = device.calls();
    const DeviceAddress from = address_of(source_), to = address_of(target_);
    switch (direction_) {
        case Direction::on_device: return calls.call(&DriverTable::copy_on_device, to, from, bytes_, stream);
        case Direction::to_host:
            return calls.call(&DriverTable::copy_to_host, static_cast<void*>(target_), from, bytes_, stream);
        case Direction::to_device:
            return calls.call(&DriverTable::copy_to_device, to, static_cast<const void*>(source_), bytes_, stream);
    }
}

}  // namespace cairn::device::cuda
