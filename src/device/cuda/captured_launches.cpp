#include "device/cuda/captured_launches.hpp"

#include "cairn/error.hpp"

namespace cairn::device::cuda {

CapturedLaunch::CapturedLaunch(BoundLaunch& launch, const BoundLaunch* previous, CudaDevice& device,
                               const StreamCapture& capture)
    : kernel_(launch.kernel()), arguments_(launch.arguments()) {
    launch.capture(device, capture.stream(), previous);
    node_ = capture.last_node();
}

void CapturedLaunch::update(BoundLaunch& launch, ExecutableGraph& graph) {
    if (launch.kernel() != kernel_)
        throw InternalError("cuda", "a launch has another kernel than when it was captured");
    const bool has_work = launch.has_work();
    if (has_work && (!has_arguments_ || arguments_ != launch.arguments())) {
        has_arguments_ = false;
        launch.set(graph, node_);
        arguments_ = launch.arguments();
        has_arguments_ = true;
    }
    if (is_enabled_ == has_work) return;
    is_enabled_.reset();
    graph.set_enabled(node_, has_work);
    is_enabled_ = has_work;
}

}  // namespace cairn::device::cuda
