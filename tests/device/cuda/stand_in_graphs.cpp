// Captures and graphs of the stand-in driver.
#include "tests/device/cuda/stand_in_state.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace cairn::device::cuda {
namespace {

// A result that Cairn does not distinguish.
constexpr auto capture_unsupported = static_cast<Result>(900);

/// Calls that a thread must not make while it captures, or any thread while one captures in global mode.
bool is_unsafe_in_capture(std::string_view symbol) {
    constexpr std::array<std::string_view, 11> unsafe = {"cuMemAlloc_v2",      "cuMemFree_v2",        "cuMemHostAlloc",
                                                         "cuMemFreeHost",      "cuModuleLoadData",    "cuModuleUnload",
                                                         "cuFuncLoad",         "cuStreamSynchronize", "cuStreamQuery",
                                                         "cuEventSynchronize", "cuEventQuery"};
    return std::find(unsafe.begin(), unsafe.end(), symbol) != unsafe.end();
}

}  // namespace

std::optional<Result> StandInDriver::State::check_captures(std::string_view symbol) {
    if (!is_unsafe_in_capture(symbol)) return {};
    for (auto& [stream, capture] : captures_) {
        const bool is_own = capture.thread == std::this_thread::get_id();
        if (capture.mode != CaptureMode::global && (capture.mode == CaptureMode::relaxed || !is_own)) continue;
        capture.is_invalidated = true;
        broken(std::string(symbol) + " is called while a stream is captured");
        return capture_unsupported;
    }
    return {};
}

Result StandInDriver::State::broken_in_capture(StreamHandle stream, const std::string& rule) {
    captures_.at(stream).is_invalidated = true;
    broken(rule);
    return capture_unsupported;
}

Result StandInDriver::State::capture_begin(StreamHandle stream, CaptureMode mode) {
    if (!streams_.contains(stream) || captures_.contains(stream)) return broken("a capture begins that cannot begin");
    captures_.emplace(stream, Capture{mode, std::this_thread::get_id()});
    return Result::success;
}
Result StandInDriver::State::capture_end(StreamHandle stream, GraphHandle* graph) {
    const auto captured = captures_.find(stream);
    if (captured == captures_.end()) return broken("a capture ends that has not begun");
    Capture& capture = captured->second;
    if (capture.mode != CaptureMode::relaxed && capture.thread != std::this_thread::get_id())
        return broken("a capture is ended by another thread");
    const Capture ended = std::move(capture);
    captures_.erase(captured);
    *graph = nullptr;
    if (ended.is_invalidated) return Result::stream_capture_invalidated;
    *graph = new_handle<GraphHandle>();
    graphs_[*graph] = ended.nodes;
    return Result::success;
}
Result StandInDriver::State::capture_status(StreamHandle stream, CaptureStatus* status) {
    const auto captured = captures_.find(stream);
    *status = captured == captures_.end()       ? CaptureStatus::none
              : captured->second.is_invalidated ? CaptureStatus::invalidated
                                                : CaptureStatus::active;
    return Result::success;
}
Result StandInDriver::State::capture_info(StreamHandle stream, CaptureStatus* status, std::uint64_t*, GraphHandle*,
                                          const GraphNodeHandle** dependencies, const EdgeData** edges,
                                          std::size_t* count) {
    capture_status(stream, status);
    if (*status != CaptureStatus::active) return Result::success;
    const Capture& capture = captures_.at(stream);
    *dependencies = &capture.last;
    *edges = &capture.edge;
    *count = capture.nodes.empty() ? 0 : 1;
    return Result::success;
}

Result StandInDriver::State::graph_instantiate(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
    if (!graphs_.contains(graph)) return broken("an unknown graph is instantiated");
    *exec = new_handle<GraphExecHandle>();
    execs_[*exec] = {graph, graphs_[graph]};
    return Result::success;
}
Result StandInDriver::State::graph_upload(GraphExecHandle exec, StreamHandle stream) {
    if (!execs_.contains(exec)) return broken("an unknown graph is uploaded");
    return submit(stream, [] {});
}
Result StandInDriver::State::graph_launch(GraphExecHandle exec, StreamHandle stream) {
    const auto found = execs_.find(exec);
    if (found == execs_.end()) return broken("an unknown graph is launched");
    if (!streams_.contains(stream)) return broken("a graph is launched in an unknown stream");
    if (captures_.contains(stream)) return broken_in_capture(stream, "a graph is launched in a capture");
    Executable& launched = found->second;
    std::deque<Work>& submitted = streams_[stream];
    // Launches of one executable graph run one after another, in whatever streams.
    if (launched.complete < launched.launched)
        submitted.push_back([this, exec, source = launched.last_stream, before = launched.launched] {
            run_until(source, [&] { return !execs_.contains(exec) || execs_[exec].complete >= before; });
        });
    for (const Node& node : launched.nodes) {
        if (!node.is_enabled) continue;
        const EventHandle event = node.operation.event;
        submitted.push_back(event != nullptr ? record_of(event, stream) : node.operation.run);
    }
    ++launched.launched;
    launched.last_stream = stream;
    submitted.push_back([this, exec] {
        if (const auto complete = execs_.find(exec); complete != execs_.end()) ++complete->second.complete;
    });
    return Result::success;
}
Result StandInDriver::State::graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphUpdateResult* result) {
    // Values of CUgraphExecUpdateResult.
    constexpr unsigned topology_changed = 2, node_type_changed = 3, attributes_changed = 7;
    const auto found = execs_.find(exec);
    if (found == execs_.end() || !graphs_.contains(graph)) return broken("an unknown graph is updated");
    if (!graphs_.contains(found->second.graph)) return broken("a graph is updated whose nodes nothing names any more");
    std::vector<Node>& nodes = found->second.nodes;
    const std::vector<Node>& wanted = graphs_[graph];
    const auto refuse = [&](unsigned reason, GraphNodeHandle node) {
        *result = {reason, node, nullptr};
        return Result::graph_update_refused;
    };
    if (nodes.size() != wanted.size()) return refuse(topology_changed, nullptr);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Operation &from = nodes[i].operation, &to = wanted[i].operation;
        if (from.kind != to.kind) return refuse(node_type_changed, wanted[i].handle);
        if (from.cluster != to.cluster || from.is_dependent != to.is_dependent)
            return refuse(attributes_changed, wanted[i].handle);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].operation = wanted[i].operation;
    return Result::success;
}
Result StandInDriver::State::graph_exec_destroy(GraphExecHandle exec) {
    const auto found = execs_.find(exec);
    if (found == execs_.end()) return broken("an unknown executable graph is destroyed");
    // A driver permits it, but what the graph uses is destroyed next.
    if (found->second.complete < found->second.launched)
        broken("an executable graph is destroyed while it is in flight");
    execs_.erase(found);
    return Result::success;
}
Result StandInDriver::State::graph_destroy(GraphHandle graph) {
    return graphs_.erase(graph) == 1 ? Result::success : broken("an unknown graph is destroyed");
}

StandInDriver::State::Node* StandInDriver::State::node_of(GraphExecHandle exec, GraphNodeHandle node,
                                                          std::string_view what) {
    const auto found = execs_.find(exec);
    if (found != execs_.end() && graphs_.contains(found->second.graph))
        for (Node& each : found->second.nodes)
            if (each.handle == node) return &each;
    broken(std::string(what) + " of an unknown node is set");
    return nullptr;
}
Result StandInDriver::State::graph_exec_set_kernel(GraphExecHandle exec, GraphNodeHandle handle,
                                                   const KernelNodeParameters* parameters) {
    Node* const node = node_of(exec, handle, "the kernel");
    if (node == nullptr) return Result::invalid_value;
    // A driver permits many other functions, but not the launch attributes that they may need.
    if (node->operation.kind != OperationKind::kernel || node->operation.function != parameters->function)
        return broken("a node gets another function");
    std::array<LaunchAttribute, 2> attributes = {};
    attributes[0].id = LaunchAttributeId::cluster_dimension;
    attributes[0].value.cluster_dimension = {node->operation.cluster, 1, 1};
    attributes[1].id = LaunchAttributeId::programmatic_stream_serialization;
    attributes[1].value.programmatic_stream_serialization = node->operation.is_dependent ? 1 : 0;
    const LaunchConfig config = {parameters->grid_x,
                                 parameters->grid_y,
                                 parameters->grid_z,
                                 parameters->block_x,
                                 parameters->block_y,
                                 parameters->block_z,
                                 parameters->dynamic_shared_bytes,
                                 nullptr,
                                 attributes.data(),
                                 attributes.size()};
    return make_launch(config, parameters->function, parameters->parameters, node->operation);
}
Result StandInDriver::State::graph_exec_set_copy(GraphExecHandle exec, GraphNodeHandle handle, const Copy3D* copy,
                                                 ContextHandle context) {
    Node* const node = node_of(exec, handle, "the copy");
    if (node == nullptr) return Result::invalid_value;
    if (node->operation.kind != OperationKind::copy_on_device || copy->source_type != MemoryType::device ||
        copy->target_type != MemoryType::device || context != primary_context)
        return broken("a node gets another kind of copy");
    if (copy->row_bytes == 0 || copy->rows != 1 || copy->planes != 1)
        return broken("the copy of a node is empty or has several rows");
    const auto to = device_side(copy->target_device, 0, copy->row_bytes, 1);
    const auto from = device_side(copy->source_device, 0, copy->row_bytes, 1);
    if (!to || !from) return Result::invalid_value;
    node->operation.run = [target = to->data, source = from->data, bytes = copy->row_bytes] {
        std::copy_n(source, bytes, target);
    };
    return Result::success;
}
Result StandInDriver::State::graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle handle, unsigned is_enabled) {
    Node* const node = node_of(exec, handle, "the state");
    if (node == nullptr) return Result::invalid_value;
    if (node->operation.kind != OperationKind::kernel && node->operation.kind != OperationKind::copy_on_device)
        return broken("a node that must run is disabled");
    // Whether its dependents would still wait for what is before it is not documented.
    const std::vector<Node>& nodes = execs_.at(exec).nodes;
    const auto next = static_cast<std::size_t>(node - nodes.data()) + 1;
    if (node->operation.is_dependent || (next < nodes.size() && nodes[next].operation.is_dependent))
        return broken("a node between which and another kernel is a programmatic edge is disabled");
    node->is_enabled = is_enabled != 0;
    return Result::success;
}

}  // namespace cairn::device::cuda
