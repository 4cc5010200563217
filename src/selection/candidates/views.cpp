#include "selection/candidates/views.hpp"

#include "graph/ir/op_table.hpp"

#include <algorithm>
#include <array>

namespace cairn::selection {
namespace {

using ir::Node;
using ir::Op;

std::size_t axis_index(const Attributes& attributes, std::string_view name, std::size_t rank) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(rank) + attributes.integer(name));
}

/// A movement op and the view of its operand.
struct Movement {
    const Node& node;
    const Node& operand;
    const ValueView& from;
    std::size_t rank() const { return operand.shape.size(); }
    std::size_t axis() const { return axis_index(node.attributes, "axis", rank()); }
};
/// The view of the op's result; empty if strides cannot express it.
using View = std::optional<ValueView>;

View reshaped(const Movement& m) {
    auto strides = reshape_strides(m.operand.shape, m.from.strides, m.node.shape);
    if (!strides) return std::nullopt;
    ValueView view = m.from;
    view.strides = std::move(*strides);
    return view;
}

View transposed(const Movement& m) {
    ValueView view = m.from;
    const auto& permutation = m.node.attributes.dims("permutation");
    for (std::size_t i = 0; i < m.rank(); ++i)
        view.strides[i] =
            m.from.strides[static_cast<std::size_t>(static_cast<std::int64_t>(m.rank()) + permutation[i].constant())];
    return view;
}

View repeated(const Movement& m) {
    ValueView view = m.from;
    view.strides = broadcast_strides(m.operand.shape, m.from.strides, m.node.shape);
    return view;
}

View sliced(const Movement& m) {
    ValueView view = m.from;
    view.offset = m.from.offset + m.node.attributes.dims("start").at(0) * m.from.strides[m.axis()];
    view.strides[m.axis()] = m.from.strides[m.axis()] * m.node.attributes.dims("step").at(0);
    return view;
}

View windowed(const Movement& m) {
    ValueView view = m.from;
    const Dim stride = m.from.strides[m.axis()];
    view.strides[m.axis()] = stride * m.node.attributes.dims("stride").at(0);
    view.strides.push_back(stride * m.node.attributes.dims("dilation").at(0));
    return view;
}

constexpr auto movements = std::to_array<ir::OpMapEntry<View (*)(const Movement&)>>({{Op::reshape, reshaped},
                                                                                     {Op::transpose, transposed},
                                                                                     {Op::broadcast, repeated},
                                                                                     {Op::slice, sliced},
                                                                                     {Op::window, windowed}});

View moved(const Node& node, const Node& operand, const ValueView& from) {
    return ir::op_entry(movements, node.op, "select")({node, operand, from});
}

}  // namespace

std::optional<std::vector<Dim>> reshape_strides(const Shape& shape, const std::vector<Dim>& strides,
                                                const Shape& target) {
    Shape old_shape;
    std::vector<Dim> old_strides;
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (!(shape[i] == Dim(1))) {
            old_shape.push_back(shape[i]);
            old_strides.push_back(strides[i]);
        }
    std::vector<Dim> result(target.size(), Dim(1));
    std::size_t i = 0, j = 0;
    while (j < target.size()) {
        if (target[j] == Dim(1)) {
            ++j;
            continue;
        }
        if (i >= old_shape.size()) return std::nullopt;
        // One group of axes on each side with equal products.
        const std::size_t old_begin = i, new_begin = j;
        Dim old_product = old_shape[i++], new_product = target[j++];
        while (!(old_product == new_product)) {
            if (i < old_shape.size() && provably_le(old_product, new_product))
                old_product = old_product * old_shape[i++];
            else if (j < target.size() && provably_le(new_product, old_product))
                new_product = new_product * target[j++];
            else
                return std::nullopt;
        }
        for (std::size_t k = old_begin; k + 1 < i; ++k)
            if (!(old_strides[k] == old_shape[k + 1] * old_strides[k + 1])) return std::nullopt;
        Dim stride = old_strides[i - 1];
        for (std::size_t k = j; k-- > new_begin;) {
            result[k] = stride;
            stride = stride * target[k];
        }
    }
    return i == old_shape.size() ? std::optional(result) : std::nullopt;
}

std::vector<Dim> broadcast_strides(const Shape& shape, const std::vector<Dim>& strides, const Shape& target) {
    std::vector<Dim> result(target.size(), Dim(0));
    const std::size_t added = target.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == target[added + i]) result[added + i] = strides[i];
    return result;
}

Shape capacity_shape(const ir::StateInfo& state) {
    Shape shape = state.shape;
    for (Dim& size : shape) size = Dim(size.upper_bound());
    if (state.grows()) shape[state.growing_axis()] = Dim(state.capacity);
    return shape;
}

const ir::StateInfo& state_of(const ir::GraphData& graph, ir::NodeId version) {
    while (graph.node(version).op != Op::state_read) version = graph.node(version).operands[0];
    const auto& states = graph.states();
    return *std::find_if(states.begin(), states.end(), [&](const auto& state) { return state.read == version; });
}

std::vector<ValueView> views_of(const ir::GraphData& graph) {
    std::vector<ValueView> views(graph.nodes().size());
    for (ir::NodeId id = 0; id < views.size(); ++id) {
        const Node& node = graph.node(id);
        ValueView& view = views[id];
        if (is_state_version(node)) {
            view = {id, 0, dense_strides(capacity_shape(state_of(graph, id)))};
            continue;
        }
        if (ir::is(node, ir::OpClass::movement))
            if (auto through = moved(node, graph.node(node.operands[0]), views[node.operands[0]])) {
                view = std::move(*through);
                continue;
            }
        view = {id, 0, dense_strides(node.shape)};
    }
    return views;
}

}  // namespace cairn::selection
