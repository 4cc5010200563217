#pragma once

#include "device/cuda/cuda_device.hpp"

#include <memory>
#include <utility>

namespace cairn::device::cuda {

/// An event that a stream of the device passes.
class Event {
public:
    /// An event with a time, or one that is only waited for. The context must be current in all functions but the
    /// destructor.
    enum class Purpose { timing, ordering };
    explicit Event(std::shared_ptr<CudaDevice> device, Purpose purpose = Purpose::timing) : device_(std::move(device)) {
        device_->calls().call(&DriverTable::event_create, &handle_,
                              purpose == Purpose::timing ? 0U : event_disable_timing);
    }
    ~Event() {
        if (device_ == nullptr) return;
        release_on(*device_, [&] { device_->calls().release(&DriverTable::event_destroy, handle_); });
    }
    Event(Event&& other) noexcept : device_(std::move(other.device_)), handle_(other.handle_) {}
    Event& operator=(Event&&) = delete;

    void record(StreamHandle stream) { device_->calls().call(&DriverTable::event_record, handle_, stream); }
    /// Makes the event a node of the graph that a stream captures: it passes where the graph reaches it.
    void capture(StreamHandle stream) {
        device_->calls().call(&DriverTable::event_record_with_flags, handle_, stream, event_record_external);
    }
    /// Makes a stream wait for the event before it runs what is submitted to it from now on.
    void block(StreamHandle stream) { device_->calls().call(&DriverTable::stream_wait_event, stream, handle_, 0U); }
    /// Waits until the event has passed.
    void synchronize() { device_->calls().call(&DriverTable::event_synchronize, handle_); }
    /// As synchronize(), in destructors.
    void release() noexcept { device_->calls().release(&DriverTable::event_synchronize, handle_); }
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
