#pragma once

#include "device/cuda/cuda_device.hpp"

#include <memory>
#include <utility>

namespace cairn::device::cuda {

/// A stream of the host program.
class HostStream {
public:
    explicit HostStream(std::shared_ptr<const DriverTable> driver) : device_(std::move(driver), 0) {
        call(&DriverTable::stream_create, &handle_, stream_non_blocking);
    }
    ~HostStream() { destroy(); }
    HostStream(const HostStream&) = delete;
    HostStream& operator=(const HostStream&) = delete;

    StreamHandle handle() const { return handle_; }
    template <class Function, class... Arguments>
    void call(Function DriverTable::*function, Arguments... arguments) {
        const CurrentContext current(device_);
        device_.calls().call(function, arguments...);
    }
    void synchronize() { call(&DriverTable::stream_synchronize, handle_); }
    void destroy() {
        if (handle_ != nullptr) call(&DriverTable::stream_destroy, handle_);
        handle_ = nullptr;
    }

private:
    CudaDevice device_;
    StreamHandle handle_ = nullptr;
};

}  // namespace cairn::device::cuda
