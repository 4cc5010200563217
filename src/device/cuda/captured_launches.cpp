#include "device/cuda/captured_launches.hpp"

#include "cairn/error.hpp"

#include <utility>

namespace cairn::device::cuda {

CapturedLaunch::CapturedLaunch(BoundLaunch& launch, const BoundLaunch* previous, CudaDevice& device,
                               const StreamCapture& capture)
    : kernel_(launch.kernel()), function_(launch.function()), arguments_(launch.arguments()) {
    launch.capture(device, capture.stream(), previous);
    if (function_ == nullptr)
        node_ = capture.last_node();
    else
        is_enabled_ = launch.has_work();
}

void CapturedLaunch::update(BoundLaunch& launch, ExecutableGraph& graph) {
    if (launch.kernel() != kernel_ || launch.function() != function_)
        throw InternalError("cuda", "a launch has another kernel than when it was captured");
    if (function_ != nullptr) return;
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

bool CapturedLaunch::is_outdated(const BoundLaunch& launch) const noexcept {
    if (function_ == nullptr || launch.function() != function_) return false;
    return is_enabled_ != launch.has_work() || (launch.has_work() && arguments_ != launch.arguments());
}

void CapturedLaunch::take_node(const CapturedLaunch& before) noexcept {
    if (function_ != nullptr) return;
    node_ = before.node_;
    is_enabled_ = before.is_enabled_;
}

std::optional<ExecutableGraph> CapturedLaunches::replace(std::vector<CapturedLaunch> captured, GraphHandle again,
                                                         const std::shared_ptr<CudaDevice>& device,
                                                         StreamHandle stream) {
    is_unknown = true;
    std::optional<ExecutableGraph> replaced;
    if (graph.update(again)) {
        for (std::size_t i = 0; i < captured.size(); ++i) captured[i].take_node(launches[i]);
    } else {
        ExecutableGraph anew(device, again, stream);
        replaced = std::exchange(graph, std::move(anew));
    }
    launches = std::move(captured);
    is_unknown = false;
    return replaced;
}

}  // namespace cairn::device::cuda
