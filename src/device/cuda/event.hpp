#pragma once

#include "device/cuda/cuda_device.hpp"

#include <memory>
#include <utility>

namespace cairn::device::cuda {

/// An event that the device's stream passes at a time, which can be asked for.
class Event {
public:
    /// The context must be current in all functions but the destructor.
    explicit Event(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) {
        device_->calls().call(&DriverTable::event_create, &handle_, 0U);
    }
    ~Event() {
        if (device_ == nullptr) return;
        release_on(*device_, [&] { device_->calls().release(&DriverTable::event_destroy, handle_); });
    }
    Event(Event&& other) noexcept : device_(std::move(other.device_)), handle_(other.handle_) {}
    Event& operator=(Event&&) = delete;

    void record() { device_->calls().call(&DriverTable::event_record, handle_, device_->stream()); }
    /// Makes the event a node of the graph that a stream captures: it passes where the graph reaches it.
    void capture(StreamHandle stream) {
        device_->calls().call(&DriverTable::event_record_with_flags, handle_, stream, event_record_external);
    }
    /// Seconds from another event to this one. Both must have passed.
    double seconds_since(const Event& begin) const {
        float milliseconds = 0;
        device_->calls().call(&DriverTable::event_elapsed_time, &milliseconds, begin.handle_, handle_);
        return static_cast<double>(milliseconds) * 1e-3;
    }

private:
    std::shared_ptr<CudaDevice> device_;
    EventHandle handle_ = nullptr;
};

}  // namespace cairn::device::cuda
