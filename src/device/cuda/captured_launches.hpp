#pragma once

#include "device/cuda/bound_launch.hpp"
#include "device/cuda/executable_graph.hpp"
#include "device/cuda/stream_capture.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace cairn::device::cuda {

/// A launch in an executable graph. A kernel or copy is a node: what it would do is known, so that only changes reach
/// the driver. What a function has submitted is not known; after a change it is captured again, with its graph.
class CapturedLaunch {
public:
    /// Captures the launch, which must be bound and stay on the device, behind `previous` (BoundLaunch::capture).
    CapturedLaunch(BoundLaunch& launch, const BoundLaunch* previous, CudaDevice& device, const StreamCapture& capture);

    /// Makes the node do what the launch, bound again, does: sets its parameters if they have changed, and disables it
    /// while there is no work. Throws InternalError if the launch has another kernel than when it was captured.
    void update(BoundLaunch& launch, ExecutableGraph& graph);
    /// True for a function whose arguments, bound again, are not those with which it was captured.
    bool is_outdated(const BoundLaunch& launch) const noexcept;
    /// Takes the place of `before` in a graph that was updated: the node is the same, enabled or not.
    void take_node(const CapturedLaunch& before) noexcept;

private:
    const CudaKernel* kernel_;
    const Kernel* function_;
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

    /// The graph may do something else than `launches` say, after a call that failed.
    bool is_unknown = false;

    std::size_t end() const noexcept { return first + launches.size(); }
    /// Takes over the same launches, captured again into `again`, which it owns. Returns the executable graph that it
    /// has replaced, which may be in flight; empty if the driver has updated it.
    std::optional<ExecutableGraph> replace(std::vector<CapturedLaunch> captured, GraphHandle again,
                                           const std::shared_ptr<CudaDevice>& device, StreamHandle stream);
};

}  // namespace cairn::device::cuda
