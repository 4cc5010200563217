#include "rewrite/simplify/rewriter.hpp"

#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/infer.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::simplify {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;

// Nesting depth of rewrites that no terminating set of rules reaches.
constexpr int depth_limit = 400;

bool is_constant(const Node& node) { return node.op == Op::constant; }

}  // namespace

Rewriter::Rewriter(const ir::GraphData& source, const RuleTable& rules, const Options& options)
    : graph_(std::make_shared<ir::GraphData>(source.name(), source.symbols())), rules_(rules), options_(options) {}

NodeId Rewriter::add(Node node) {
    where_ = node.where;
    composite_ = node.composite;
    if (sort_operands(node)) ++rewrites_;
    return simplified(graph_->intern(std::move(node)));
}

bool Rewriter::sort_operands(Node& added) const {
    if (!ir::info(added.op).has(ir::OpTrait::commutes)) return false;
    const auto key = [&](NodeId id) { return std::pair(is_constant(node(id)), id); };
    if (key(added.operands[0]) <= key(added.operands[1])) return false;
    std::swap(added.operands[0], added.operands[1]);
    return true;
}

NodeId Rewriter::make(Op op, std::vector<NodeId> operands, Attributes attributes) {
    ir::Inferred inferred = ir::infer(*graph_, op, operands, attributes, where_);
    Node node;
    node.op = op;
    node.dtype = inferred.dtype;
    node.shape = std::move(inferred.shape);
    node.operands = std::move(operands);
    node.attributes = std::move(attributes);
    node.where = where_;
    node.composite = composite_;
    sort_operands(node);
    return simplified(graph_->intern(std::move(node)));
}

std::optional<NodeId> Rewriter::try_make(Op op, std::vector<NodeId> operands, Attributes attributes) {
    try {
        Attributes checked = attributes;
        ir::infer(*graph_, op, operands, checked, where_);
    } catch (const InternalError&) { throw; } catch (const Error&) {
        return std::nullopt;
    }
    return make(op, std::move(operands), std::move(attributes));
}

NodeId Rewriter::scalar(DType dtype, double value) { return constant(dtype, {}, {ir::round_to(dtype, value)}); }

NodeId Rewriter::constant(DType dtype, Shape shape, std::vector<double> values) {
    Node node;
    node.dtype = dtype;
    node.shape = std::move(shape);
    node.values = std::make_shared<const std::vector<double>>(std::move(values));
    return constant(std::move(node));
}

NodeId Rewriter::constant(DType dtype, Shape shape, std::span<const std::int64_t> values) {
    Node node;
    node.dtype = dtype;
    node.shape = std::move(shape);
    ir::set_values(node, values);
    return constant(std::move(node));
}

NodeId Rewriter::constant(Node node) {
    node.op = Op::constant;
    node.where = where_;
    node.composite = composite_;
    return simplified(graph_->intern(std::move(node)));
}

NodeId Rewriter::broadcast_to(NodeId id, const Shape& shape) {
    if (node(id).shape == shape) return id;
    return make(Op::broadcast, {id}, attribute("shape", shape));
}

NodeId Rewriter::reshape_to(NodeId id, const Shape& shape) {
    if (node(id).shape == shape) return id;
    return make(Op::reshape, {id}, attribute("shape", shape));
}

NodeId Rewriter::filled_like(NodeId id, double value) {
    const DType dtype = node(id).dtype;
    const Shape shape = node(id).shape;
    return broadcast_to(scalar(dtype, value), shape);
}

std::optional<double> Rewriter::scalar_value(NodeId id) const {
    const Node* at = &node(id);
    if (at->op == Op::broadcast) at = &node(at->operands[0]);
    if (at->op != Op::constant || !at->shape.empty() || at->values->empty() || at->exact_integers) return std::nullopt;
    return at->values->front();
}

bool Rewriter::is_nonnegative(NodeId id, int depth) const {
    using enum ir::OpTrait;
    if (depth == 0) return false;
    const Node& at = node(id);
    const ir::OpInfo& row = ir::info(at.op);
    if (at.dtype == DType::boolean || at.dtype == DType::u8) return true;
    if (is_constant(at))
        return std::none_of(at.values->begin(), at.values->end(), [](double v) { return v < 0 || std::signbit(v); });
    if (row.has(wraps) && !is_float(at.dtype)) return false;
    if (row.has(nonnegative) || (at.op == Op::mul && at.operands[0] == at.operands[1])) return true;
    return row.has(keeps_sign) && std::all_of(at.operands.begin(), at.operands.end(),
                                              [&](NodeId operand) { return is_nonnegative(operand, depth - 1); });
}

NodeId Rewriter::simplified(NodeId id) {
    if (simplified_.size() < graph_->nodes().size()) simplified_.resize(graph_->nodes().size());
    if (simplified_[id]) return *simplified_[id];
    if (++depth_ > depth_limit) throw InternalError("simplify", "rules do not terminate");
    NodeId result = id;
    if (const auto next = rewrite_once(id)) {
        ++rewrites_;
        result = *next;  // made by add or make, so simplified already
    }
    --depth_;
    if (simplified_.size() < graph_->nodes().size()) simplified_.resize(graph_->nodes().size());
    simplified_[id] = result;
    simplified_[result] = result;
    return result;
}

std::optional<NodeId> Rewriter::rewrite_once(NodeId id) {
    for (const Rule& rule : rules_.of(node(id).op)) {
        const std::optional<NodeId> next = rule.apply(*this, id);
        if (!next || *next == id) continue;
        const Node& before = node(id);
        const Node& after = node(*next);
        if (before.dtype != after.dtype || before.shape != after.shape)
            throw InternalError("simplify",
                                fmt::format("rule {} made {} of {}", rule.name, to_string(after.dtype, after.shape),
                                            to_string(before.dtype, before.shape)));
        return next;
    }
    return std::nullopt;
}

}  // namespace cairn::simplify
