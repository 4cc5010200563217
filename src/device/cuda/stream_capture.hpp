#pragma once

#include "device/cuda/cuda_device.hpp"

namespace cairn::device::cuda {

/// A capture of work into a CUDA graph. It has a stream of its own, since others submit to that of the device, and
/// restricts the calls of no other thread. This thread must not allocate, free or wait until it ends, except in relaxed
/// mode: there a library may do what does not concern the stream, as when it loads a kernel at its first call. The
/// context must be current in all functions.
///
///     StreamCapture capture(device);
///     launch.submit(device, capture.stream());   // recorded, not run
///     ExecutableGraph graph(device, capture.end(), device->stream());
class StreamCapture {
public:
    /// Begins the capture.
    explicit StreamCapture(CudaDevice& device, CaptureMode mode = CaptureMode::thread_local_mode);
    /// Ends a capture that end() has not ended, and discards what it has recorded.
    ~StreamCapture();
    StreamCapture(const StreamCapture&) = delete;
    StreamCapture& operator=(const StreamCapture&) = delete;

    StreamHandle stream() const noexcept { return stream_; }
    /// The node of the work that was submitted last.
    GraphNodeHandle last_node() const;
    /// Ends the capture. The caller owns the graph.
    GraphHandle end();

private:
    CudaDevice& device_;
    StreamHandle stream_ = nullptr;
    bool is_active_ = true;
};

}  // namespace cairn::device::cuda
