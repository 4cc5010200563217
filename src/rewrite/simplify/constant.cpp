#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"
#include "rewrite/simplify/rules_per_op.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

// The element count of a shape without symbols; nothing for other shapes.
std::optional<std::int64_t> constant_count(const Shape& shape) {
    const Dim count = element_count(shape);
    return count.is_constant() ? std::optional(count.constant()) : std::nullopt;
}

bool has_constant_attributes(const ir::Node& node) {
    return std::all_of(node.attributes.begin(), node.attributes.end(), [](const Attribute& attribute) {
        const auto* list = std::get_if<std::vector<Dim>>(&attribute.value);
        return list == nullptr || std::all_of(list->begin(), list->end(), [](const Dim& d) { return d.is_constant(); });
    });
}

// The constant under a node: the node itself, or the operand of a broadcast.
NodeId source_of(const Rewriter& r, NodeId id) { return r.is(id, Op::broadcast) ? r.operand(id, 0) : id; }

bool is_foldable(const Rewriter& r, NodeId id) {
    const ir::Node& node = r.node(id);
    if (node.op == Op::broadcast) return false;  // a broadcast costs nothing
    const auto is_of_constant = [&](NodeId operand) { return r.is(source_of(r, operand), Op::constant); };
    if (!std::all_of(node.operands.begin(), node.operands.end(), is_of_constant)) return false;
    const auto count = constant_count(node.shape);
    if (!count || *count == 0 || *count > r.options().fold_limit || !has_constant_attributes(node)) return false;
    return std::all_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) {
        const auto size = constant_count(r.node(operand).shape);
        return size && *size <= 16 * std::max<std::int64_t>(r.options().fold_limit, 1);
    });
}

// Evaluates a node whose operands are all constants. Returns nothing if an index is out of range: the run reports it.
std::optional<interpreter::Value> value_of(const Rewriter& r, NodeId id) {
    ir::GraphData graph("constant");  // has no symbols, so that none needs a value
    ir::Node node = r.node(id);
    for (NodeId& operand : node.operands) {
        const NodeId source = source_of(r, operand);
        const NodeId copy = graph.intern(r.node(source));
        if (source == operand) {
            operand = copy;
            continue;
        }
        ir::Node repeated = r.node(operand);
        repeated.operands = {copy};
        operand = graph.intern(std::move(repeated));
    }
    graph.add_output("value", graph.intern(std::move(node)));
    try {
        return std::move(interpreter::interpret(graph, {}).outputs.at("value"));
    } catch (const InternalError&) { throw; } catch (const Error&) {
        return std::nullopt;
    }
}

// A result with a NaN is not folded: no constant holds a NaN.
Result fold(Rewriter& r, NodeId id) {
    if (!is_foldable(r, id)) return std::nullopt;
    auto value = value_of(r, id);
    if (!value) return std::nullopt;
    const DType dtype = r.node(id).dtype;
    const Shape shape = r.node(id).shape;
    if (!is_float(dtype)) return r.constant(dtype, shape, value->integers);
    for (double& element : value->data) {
        element = ir::round_to(dtype, element);
        if (std::isnan(element)) return std::nullopt;
    }
    return r.constant(dtype, shape, std::move(value->data));
}

// A uniform constant needs no array: elementwise ops broadcast a scalar.
Result constant_uniform(Rewriter& r, NodeId id) {
    const ir::Node& node = r.node(id);
    if (node.shape.empty() || node.values->empty() || node.exact_integers) return std::nullopt;
    const double first = node.values->front();
    const bool uniform = std::all_of(node.values->begin(), node.values->end(), [&](double value) {
        return value == first && std::signbit(value) == std::signbit(first);
    });
    return uniform ? Result(r.filled_like(id, first)) : std::nullopt;
}

// Longer iotas stay: they cost nothing to make, and masks and tables of angles are recognised by their iota.
Result iota_one(Rewriter& r, NodeId id) {
    const Dim start = r.node(id).attributes.dims("start")[0];
    if (!(r.node(id).shape[0] == Dim(1)) || !start.is_constant()) return std::nullopt;
    const std::int64_t value = start.constant();
    const DType dtype = r.node(id).dtype;
    if (!ir::can_hold_integer(dtype, value)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.constant(dtype, {}, std::span(&value, 1)), shape);
}

using enum Rounding;

constexpr std::array single_rules = {
    Rule{"constant_uniform", "constant [c, c, ..] -> broadcast(c)", "", exact, Op::constant, constant_uniform},
    Rule{"iota_one", "iota(1, start) -> start", "start is constant", exact, Op::iota, iota_one},
};

template <ir::OpClass kind>
constexpr auto fold_rows = rules_for_each("fold", "op(constants) -> constant", "up to Options::fold_limit elements",
                                          rounded, ir::ops_of<kind>, fold);
constexpr auto rows = concat_rules(single_rules, fold_rows<ir::OpClass::elementwise>, fold_rows<ir::OpClass::reduction>,
                                   fold_rows<ir::OpClass::contraction>, fold_rows<ir::OpClass::movement>,
                                   fold_rows<ir::OpClass::indexing>, fold_rows<ir::OpClass::scan>);

}  // namespace

std::span<const Rule> constant_rules() { return rows; }

}  // namespace cairn::simplify
