#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/simplify/rule.hpp"
#include "rewrite/simplify/simplify.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::simplify {

/// Builds a new graph and simplifies every node as it is added: sorts the operands of commutative ops (constants last,
/// else by age), interns equal nodes, then tries rules until none applies. Operands are added first, so a rule always
/// sees simplified operands.
///
///     add(neg(neg(%0)))   ->   %0
class Rewriter {
public:
    /// `rules` and `options` must outlive the Rewriter.
    Rewriter(const ir::GraphData& source, const RuleTable& rules, const Options& options);

    /// Adds a node whose operands are nodes of the new graph; returns its simplified form.
    ir::NodeId add(ir::Node node);

    /// The same for a node made by a rule: dtype and shape are inferred from the operands, the source line is that of
    /// the node being replaced.
    ir::NodeId make(ir::Op op, std::vector<ir::NodeId> operands, Attributes attributes = {});
    /// The same; returns nothing if shape inference cannot prove that the node is valid.
    std::optional<ir::NodeId> try_make(ir::Op op, std::vector<ir::NodeId> operands, Attributes attributes = {});
    /// A scalar constant, rounded to `dtype`.
    ir::NodeId scalar(DType dtype, double value);
    ir::NodeId constant(DType dtype, Shape shape, std::vector<double> values);
    /// The same for integers, each reduced to `dtype` as by `cast`, exactly if `dtype` is i64.
    ir::NodeId constant(DType dtype, Shape shape, std::span<const std::int64_t> values);
    /// `id`, broadcast or reshaped to `shape` if it has another shape.
    ir::NodeId broadcast_to(ir::NodeId id, const Shape& shape);
    ir::NodeId reshape_to(ir::NodeId id, const Shape& shape);
    /// A tensor with the shape and dtype of `id` and `value` in every element.
    ir::NodeId filled_like(ir::NodeId id, double value);

    /// A node of the new graph. The reference is valid until the next node is made.
    const ir::Node& node(ir::NodeId id) const { return graph_->node(id); }
    /// The operand `index` of `id`.
    ir::NodeId operand(ir::NodeId id, std::size_t index) const { return graph_->node(id).operands[index]; }
    bool is(ir::NodeId id, ir::Op op) const { return graph_->node(id).op == op; }
    /// The value of all elements, if `id` is a scalar constant or a broadcast of one.
    std::optional<double> scalar_value(ir::NodeId id) const;
    /// True if scalar_value(id) equals `value`; +0 and -0 are equal.
    bool is_scalar(ir::NodeId id, double value) const { return scalar_value(id) == value; }
    /// True if no element can be negative or -0 (NaN is possible).
    bool is_nonnegative(ir::NodeId id) const { return is_nonnegative(id, 8); }

    const Options& options() const noexcept { return options_; }
    const std::shared_ptr<ir::GraphData>& graph() const noexcept { return graph_; }
    /// The number of rewrites made, including reordered operands.
    int rewrites() const noexcept { return rewrites_; }

private:
    ir::NodeId constant(ir::Node node);
    bool sort_operands(ir::Node& added) const;
    ir::NodeId simplified(ir::NodeId id);
    std::optional<ir::NodeId> rewrite_once(ir::NodeId id);
    bool is_nonnegative(ir::NodeId id, int depth) const;

    std::shared_ptr<ir::GraphData> graph_;
    const RuleTable& rules_;
    std::vector<std::optional<ir::NodeId>> simplified_;  // by node of the new graph; nothing where unknown
    const Options& options_;
    std::source_location where_;
    std::string composite_;
    int rewrites_ = 0;
    int depth_ = 0;
};

/// A list attribute: axes, sizes or flags.
inline Attributes attribute(std::string_view name, std::vector<Dim> value) {
    return {Attribute{std::string(name), std::move(value)}};
}

/// Converts an axis, stored negative, to an index from the front.
inline std::size_t front_axis(const ir::Node& node, std::int64_t axis) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(node.shape.size()) : axis);
}

}  // namespace cairn::simplify
