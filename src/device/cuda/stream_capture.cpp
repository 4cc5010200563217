#include "device/cuda/stream_capture.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace cairn::device::cuda {

StreamCapture::StreamCapture(CudaDevice& device, CaptureMode mode) : device_(device) {
    DriverCalls& calls = device.calls();
    calls.call(&DriverTable::stream_create, &stream_, stream_non_blocking);
    try {
        calls.call(&DriverTable::capture_begin, stream_, mode);
    } catch (...) {
        calls.release(&DriverTable::stream_destroy, stream_);
        throw;
    }
}

StreamCapture::~StreamCapture() {
    DriverCalls& calls = device_.calls();
    if (is_active_) {
        // After an error of cuStreamEndCapture the capture may have ended or not.
        CaptureStatus status = CaptureStatus::none;
        calls.release(&DriverTable::capture_status, stream_, &status);
        GraphHandle graph = nullptr;
        if (status != CaptureStatus::none) calls.release(&DriverTable::capture_end, stream_, &graph);
        if (graph != nullptr) calls.release(&DriverTable::graph_destroy, graph);
    }
    calls.release(&DriverTable::stream_destroy, stream_);
}

GraphNodeHandle StreamCapture::last_node() const {
    CaptureStatus status = CaptureStatus::none;
    const GraphNodeHandle* nodes = nullptr;
    // Without a place for the edges the call fails where an edge is programmatic.
    const EdgeData* edges = nullptr;
    std::size_t count = 0;
    device_.calls().call(&DriverTable::capture_info, stream_, &status, static_cast<std::uint64_t*>(nullptr),
                         static_cast<GraphHandle*>(nullptr), &nodes, &edges, &count);
    if (status != CaptureStatus::active || count != 1)
        throw InternalError("cuda", fmt::format("cuStreamGetCaptureInfo_v3 reports {} last nodes of a capture", count));
    return nodes[0];
}

GraphHandle StreamCapture::end() {
    GraphHandle graph = nullptr;
    device_.calls().call(&DriverTable::capture_end, stream_, &graph);
    is_active_ = false;
    return graph;
}

}  // namespace cairn::device::cuda
