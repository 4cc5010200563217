#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/ir/graph_error.hpp"
#include "graph/ir/op_builder.hpp"
#include "graph/ir/valid_names.hpp"

#include <fmt/format.h>

namespace cairn::inline v0 {
namespace {

/// The node of a tensor of this graph; null for anything else, which ir::build_op() rejects.
const ir::Node* node_in(const ir::GraphData& graph, const Operand& operand) {
    const bool known = !operand.is_scalar() && operand.tensor().graph().get() == &graph;
    return known ? &graph.node(operand.tensor().id()) : nullptr;
}

/// The axis along which a write replaces a slice, counted from the front.
std::size_t written_axis(const ir::GraphData& graph, const ir::StateInfo& state, const Operand& rows, int axis) {
    const auto rank = static_cast<int>(state.shape.size());
    const auto fail = [&](const std::string& text) {
        ir::refuse(graph.part_name(ir::Op::state_write), text, graph.place(rows.where()));
    };
    if (axis < -rank || axis >= rank)
        fail(fmt::format("{} has no axis {}: {}", ir::quoted(state.name), axis, to_string(state.dtype, state.shape)));
    const auto index = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    const ir::Node* given = node_in(graph, rows);
    if (given == nullptr) return index;
    const Shape& live = graph.node(state.latest).shape;
    Shape wanted = live;
    if (given->shape.size() == live.size()) wanted[index] = given->shape[index];
    if (given->shape != wanted)
        fail(fmt::format("rows must have the shape of {} but for axis {}: state {}, rows {}", ir::quoted(state.name),
                         index, to_string(state.dtype, live), to_string(given->dtype, given->shape)));
    return index;
}

}  // namespace

ir::GraphData& State::data() const {
    if (graph_ == nullptr) throw Error(ErrorKind::graph, "state", "the handle is moved-from");
    return *graph_;
}

Tensor State::read(std::source_location) const { return Tensor(graph_, data().states()[index_].read); }

Tensor State::latest() const { return Tensor(graph_, data().states()[index_].latest); }

Tensor State::append(const Operand& rows) {
    const Operand version(latest(), rows.where());
    const Tensor next = ir::build_op(ir::Op::state_append, {version, rows});
    graph_->states()[index_].latest = next.id();
    return next;
}

Tensor State::write(const Operand& rows, const Dim& start) {
    const ir::StateInfo& state = data().states()[index_];
    return write(rows, start, state.grows() ? state.axis : 0);
}

Tensor State::write(const Operand& rows, const Dim& start, int axis) {
    const ir::StateInfo& state = data().states()[index_];
    std::vector<Dim> corner(state.shape.size(), Dim(0));
    corner[written_axis(*graph_, state, rows, axis)] = start;
    const Operand version(latest(), rows.where());
    const Tensor next = ir::build_op(ir::Op::state_write, {version, rows}, {{"start", std::move(corner)}});
    graph_->states()[index_].latest = next.id();
    return next;
}

Tensor State::assign(const Operand& value) {
    const ir::StateInfo& state = data().states()[index_];
    const Shape& live = graph_->node(state.latest).shape;
    const ir::Node* given = node_in(*graph_, value);
    if (given != nullptr && given->shape != live)
        ir::refuse(graph_->part_name("assign"),
                   fmt::format("the value must have the shape of {}: state {}, value {}", ir::quoted(state.name),
                               to_string(state.dtype, live), to_string(given->dtype, given->shape)),
                   graph_->place(value.where()));
    const Operand version(latest(), value.where());
    const Tensor next =
        ir::build_op(ir::Op::state_write, {version, value}, {{"start", std::vector<Dim>(live.size(), Dim(0))}});
    graph_->states()[index_].latest = next.id();
    return next;
}

}  // namespace cairn::inline v0
