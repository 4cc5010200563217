#pragma once

#include "device/cuda/cuda_device.hpp"

#include <memory>

namespace cairn::device::cuda {

/// A CUDA graph and its executable form, whose nodes may change between launches. It must not be in flight when it is
/// destroyed. The context must be current in all functions but the destructor.
class ExecutableGraph {
public:
    /// Instantiates the graph and uploads it in a stream, so that no launch allocates. Owns the graph, also if it
    /// throws.
    ExecutableGraph(std::shared_ptr<CudaDevice> device, GraphHandle graph, StreamHandle stream);
    ~ExecutableGraph();
    ExecutableGraph(ExecutableGraph&& other) noexcept;
    ExecutableGraph& operator=(ExecutableGraph&& other) noexcept;

    /// Submits the graph to a stream. Its launches run one after another, in whatever streams.
    void launch(StreamHandle stream);
    /// These change a node for later launches, and not for those that are submitted already. A node that is not enabled
    /// does nothing.
    void set(GraphNodeHandle node, const KernelNodeParameters& kernel);
    void set(GraphNodeHandle node, const Copy3D& copy);
    void set_enabled(GraphNodeHandle node, bool is_enabled);
    /// Gives each node what the same node of `graph` does, for later launches. Nodes stay as they are otherwise: their
    /// handles, and whether they are enabled. False if the driver refuses, which it does where the graphs differ in
    /// more than the parameters of nodes; nothing has changed then. Owns the graph unless it returns false.
    bool update(GraphHandle graph);

private:
    std::shared_ptr<CudaDevice> device_;
    GraphHandle graph_;  // kept: nodes are identified by those of the graph
    GraphExecHandle executable_ = nullptr;
};

}  // namespace cairn::device::cuda
