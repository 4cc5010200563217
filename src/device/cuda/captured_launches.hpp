#pragma once

#include "device/cuda/bound_launch.hpp"
#include "device/cuda/executable_graph.hpp"
#include "device/cuda/stream_capture.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace cairn::device::cuda {

/// A launch as a node of an executable graph: knows what the node would do, so that only changes reach the driver.
class CapturedLaunch {
public:
    /// Captures the launch, which must be bound and stay on the device, behind `previous` (BoundLaunch::capture).
    CapturedLaunch(BoundLaunch& launch, const BoundLaunch* previous, CudaDevice& device, const StreamCapture& capture);

    /// Makes the node do what the launch, bound again, does: sets its parameters if they have changed, and disables it
    /// while there is no work. Throws InternalError if the launch has another kernel than when it was captured.
    void update(BoundLaunch& launch, ExecutableGraph& graph);

private:
    const CudaKernel* kernel_;
    // Of the node, or of a launch without work, whose arguments are equal to none with work.
    BoundLaunch::Arguments arguments_;
    // False and empty after a call that failed: the driver may have changed the node or not.
    bool has_arguments_ = true;
    std::optional<bool> is_enabled_ = true;
    GraphNodeHandle node_;
};

/// Consecutive launches of a command buffer that run as one graph.
struct CapturedLaunches {
    std::size_t first;  ///< launch
    std::vector<CapturedLaunch> launches;
    ExecutableGraph graph;

    std::size_t end() const noexcept { return first + launches.size(); }
};

}  // namespace cairn::device::cuda
