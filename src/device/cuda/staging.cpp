#include "device/cuda/staging.hpp"

namespace cairn::device::cuda {

Staging::~Staging() {
    DriverCalls& calls = device_->calls();
    release_on(*device_, [&] {
        for (const Buffer& buffer : buffers_) {
            if (buffer.read != nullptr) calls.release(&DriverTable::event_destroy, buffer.read);
            if (buffer.data != nullptr) calls.release(&DriverTable::host_free, buffer.data);
        }
    });
}

Staging::Upload::Upload(Staging& staging) : staging_(staging), lock_(staging.mutex_) {
    DriverCalls& calls = staging.device_->calls();
    for (Buffer& buffer : staging.buffers_) {
        buffer.in_use = false;
        if (buffer.data == nullptr) buffer.data = calls.allocate_pinned(staging.bytes_, 0);
        if (buffer.read == nullptr) calls.call(&DriverTable::event_create, &buffer.read, event_disable_timing);
    }
}

Staging::Upload::~Upload() {
    staging_.device_->calls().release(&DriverTable::stream_synchronize, staging_.device_->stream());
}

std::byte* Staging::Upload::next() {
    Buffer& buffer = staging_.buffers_[staging_.turn_];
    if (buffer.in_use) staging_.device_->calls().call(&DriverTable::event_synchronize, buffer.read);
    buffer.in_use = false;
    return static_cast<std::byte*>(buffer.data);
}

void Staging::Upload::submitted() {
    Buffer& buffer = staging_.buffers_[staging_.turn_];
    staging_.device_->calls().call(&DriverTable::event_record, buffer.read, staging_.device_->stream());
    buffer.in_use = true;
    staging_.turn_ = 1 - staging_.turn_;
}

}  // namespace cairn::device::cuda
