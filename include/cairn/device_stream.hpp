#pragma once

#include "cairn/types.hpp"

namespace cairn::inline v0 {

/// A stream of a device. Streams of a GPU belong to its primary context, the one that the CUDA runtime uses.
struct DeviceStream {
    Device device = Device::cuda();
    void* handle = nullptr;  ///< a CUstream, which is a cudaStream_t, too; null: the default stream
};

}  // namespace cairn::inline v0
