#include "expand/row.hpp"
#include "ir/op_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace cairn::inline v0::expand {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;

// What a slice goes through at most, and how many slices may share a value: each makes its own part of it.
constexpr std::size_t most_inside = 48, most_slices = 4;

/// The axis, from the end, along which each operand is cut; 0 for one that stays.
using Axes = std::vector<std::int64_t>;

std::optional<Dim> size_at(const Shape& shape, std::int64_t axis) {
    const std::int64_t at = static_cast<std::int64_t>(shape.size()) + axis;
    return at < 0 ? std::nullopt : std::optional(shape[static_cast<std::size_t>(at)]);
}

// An operand that repeats along the axis stays.
std::optional<std::int64_t> cut_beside(const Expander& e, NodeId operand, std::int64_t axis, const Dim& size) {
    const auto own = size_at(e.node(operand).shape, axis);
    if (!own || *own == Dim(1)) return 0;
    return *own == size ? std::optional(axis) : std::nullopt;
}

std::optional<Axes> axes_of_product(const Expander& e, const Node& node, std::int64_t axis) {
    if (!is_float(node.dtype)) return std::nullopt;
    const NodeId a = node.operands[0], b = node.operands[1];
    // Parts of a weight beside the whole of it are forms to be chosen for all buckets at once: too many ways.
    if (axis == -1) return e.is_bound(b) ? std::nullopt : std::optional(Axes{0, -1});
    if (axis == -2) return Axes{-2, 0};
    const Dim size = *size_at(node.shape, axis);
    const auto left = cut_beside(e, a, axis, size), right = cut_beside(e, b, axis, size);
    return left && right ? std::optional(Axes{*left, *right}) : std::nullopt;
}

/// How a slice of the node along `axis` cuts its operands; nothing where the node does not make each element from what
/// lies there.
std::optional<Axes> axes_of_operands(const Expander& e, NodeId id, std::int64_t axis) {
    const Node& node = e.node(id);
    if (node.op == Op::matmul) return axes_of_product(e, node, axis);
    if (node.op == Op::transpose) {
        const std::vector<Dim>& order = node.attributes.dims("permutation");
        const std::int64_t at = static_cast<std::int64_t>(order.size()) + axis;
        return Axes{at < 0 ? axis : order[static_cast<std::size_t>(at)].constant()};
    }
    if ((node.op == Op::sum || node.op == Op::max_reduce) && is_float(node.dtype)) {
        const std::vector<Dim>& axes = node.attributes.dims("axes");
        const bool is_free = std::find(axes.begin(), axes.end(), Dim(axis)) == axes.end();
        return is_free ? std::optional(Axes{axis}) : std::nullopt;
    }
    if (!ir::is(node, ir::OpClass::elementwise)) return std::nullopt;
    Axes axes;
    for (const NodeId operand : node.operands) {
        const auto cut = cut_beside(e, operand, axis, *size_at(node.shape, axis));
        if (!cut) return std::nullopt;
        axes.push_back(*cut);
    }
    return axes;
}

/// The values that are read for one slice alone, and those in front of them, each with the axis along which it is cut.
struct Inside {
    std::map<NodeId, std::int64_t> values, edges;
    std::map<NodeId, Axes> operands;
};

// The slices of a value are taken together: a product of its parts is no more than the whole.
bool is_for_slices(const Expander& e, NodeId value, NodeId slice) {
    const auto users = e.users(value);
    std::size_t count = 0;
    for (const NodeId user : users) {
        if (!e.is_original(user)) break;
        const Node& node = e.node(user);
        if (node.op != Op::slice || ++count > most_slices) return false;
        if (!(node.attributes.dims("axis") == e.node(slice).attributes.dims("axis"))) return false;
    }
    return !e.is_read_outside(value);
}

bool is_for(const Expander& e, NodeId value, const Inside& inside) {
    if (e.is_read_outside(value)) return false;
    for (const NodeId user : e.users(value)) {
        if (!e.is_original(user)) break;
        if (!inside.values.contains(user)) return false;
    }
    return true;
}

// Users before what they read. Nothing where a value would be cut along two axes.
std::optional<Inside> inside_of(const Expander& e, NodeId slice) {
    Inside inside;
    std::map<NodeId, std::int64_t, std::greater<>> open;
    const NodeId whole = e.node(slice).operands[0];
    open[whole] = e.node(slice).attributes.integer("axis");
    while (!open.empty()) {
        const auto [id, axis] = *open.begin();
        open.erase(open.begin());
        const bool goes_on = !e.is_bound(id) && inside.values.size() < most_inside &&
                             (id == whole ? is_for_slices(e, id, slice) : is_for(e, id, inside));
        const auto axes = goes_on ? axes_of_operands(e, id, axis) : std::nullopt;
        (axes ? inside.values : inside.edges)[id] = axis;
        if (!axes) continue;
        for (std::size_t i = 0; i < axes->size(); ++i)
            if ((*axes)[i] != 0 && open.try_emplace(e.node(id).operands[i], (*axes)[i]).first->second != (*axes)[i])
                return std::nullopt;
        inside.operands[id] = *axes;
    }
    return inside;
}

std::optional<NodeId> cut_along(Expander& e, NodeId value, std::int64_t axis, NodeId slice) {
    const Attributes& like = e.node(slice).attributes;
    return e.make(Op::slice, {value},
                  {{"axis", std::vector<Dim>{axis}},
                   {"start", like.dims("start")},
                   {"stop", like.dims("stop")},
                   {"step", like.dims("step")}},
                  slice);
}

}  // namespace

// A slice of a product is a product of slices (the logits of the last token alone), through all between them that
// computes each element along the axis apart:
//
//     %4 = add (matmul %x, %w), %b     matmul (slice %x), %w
//     %5 = slice %4                ->  add of it and %b = %5
//
// What is left out is made for nothing else.
void slice_product(Expander& e, NodeId id, Laws laws) {
    if (!e.is_original(id) || e.is_bound(id)) return;
    const auto inside = inside_of(e, id);
    const auto is_product = [&](const auto& value) { return e.node(value.first).op == Op::matmul; };
    if (!inside || std::none_of(inside->values.begin(), inside->values.end(), is_product)) return;
    std::map<NodeId, NodeId> cut;
    for (const auto& [edge, axis] : inside->edges) {
        const auto part = cut_along(e, edge, axis, id);
        if (!part) return;
        cut[edge] = *part;
    }
    for (const auto& [value, axis] : inside->values) {
        std::vector<NodeId> operands(e.node(value).operands.begin(), e.node(value).operands.end());
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (inside->operands.at(value)[i] != 0) operands[i] = cut.at(operands[i]);
        const auto part = e.make(e.node(value).op, operands, e.node(value).attributes, value);
        if (!part) return;
        cut[value] = *part;
    }
    e.join(id, cut.at(e.node(id).operands[0]), laws);
}

}  // namespace cairn::inline v0::expand
