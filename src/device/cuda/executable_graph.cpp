#include "device/cuda/executable_graph.hpp"

#include <utility>

namespace cairn::device::cuda {

ExecutableGraph::ExecutableGraph(std::shared_ptr<CudaDevice> device, GraphHandle graph, StreamHandle stream)
    : device_(std::move(device)), graph_(graph) {
    DriverCalls& calls = device_->calls();
    try {
        calls.call(&DriverTable::graph_instantiate, &executable_, graph_, 0ULL);
        calls.call(&DriverTable::graph_upload, executable_, stream);
    } catch (...) {
        if (executable_ != nullptr) calls.release(&DriverTable::graph_exec_destroy, executable_);
        calls.release(&DriverTable::graph_destroy, graph_);
        throw;
    }
}

ExecutableGraph::~ExecutableGraph() {
    if (device_ == nullptr) return;
    release_on(*device_, [&] {
        device_->calls().release(&DriverTable::graph_exec_destroy, executable_);
        device_->calls().release(&DriverTable::graph_destroy, graph_);
    });
}

ExecutableGraph::ExecutableGraph(ExecutableGraph&& other) noexcept
    : device_(std::move(other.device_)), graph_(other.graph_), executable_(other.executable_) {}

ExecutableGraph& ExecutableGraph::operator=(ExecutableGraph&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(graph_, other.graph_);
    std::swap(executable_, other.executable_);
    return *this;
}

void ExecutableGraph::launch(StreamHandle stream) {
    device_->calls().call(&DriverTable::graph_launch, executable_, stream);
}

void ExecutableGraph::set(GraphNodeHandle node, const KernelNodeParameters& kernel) {
    device_->calls().call(&DriverTable::graph_exec_set_kernel, executable_, node, &kernel);
}
void ExecutableGraph::set(GraphNodeHandle node, const Copy3D& copy) {
    device_->calls().call(&DriverTable::graph_exec_set_copy, executable_, node, &copy, device_->context());
}
void ExecutableGraph::set_enabled(GraphNodeHandle node, bool is_enabled) {
    device_->calls().call(&DriverTable::graph_node_set_enabled, executable_, node, is_enabled ? 1U : 0U);
}

bool ExecutableGraph::update(GraphHandle graph) {
    DriverCalls& calls = device_->calls();
    GraphUpdateResult result = {};
    try {
        if (!calls.call_unless(Result::graph_update_refused, &DriverTable::graph_exec_update, executable_, graph,
                               &result))
            return false;
    } catch (...) {
        calls.release(&DriverTable::graph_destroy, graph);
        throw;
    }
    calls.release(&DriverTable::graph_destroy, graph);
    return true;
}

}  // namespace cairn::device::cuda
