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

/// Writes a new graph in which every node is simplified as it is added: operands of commutative ops are put in one
/// order (constants last, else by age), equal nodes are made once, then rules are tried until none applies. Since
/// operands come first, a rule always sees simplified operands.
///
///     add(neg(neg(%0)))   ->   %0
class Rewriter {
public:
    /// `rules` and `options` must outlive the Rewriter.
    Rewriter(const ir::GraphData& source, const RuleTable& rules, const Options& options);

    /// The simplified form of a node whose operands are already nodes of the new graph.
    ir::NodeId add(ir::Node node);

    /// The same for a node made by a rule: dtype and shape follow from the operands, the source line from the node
    /// being replaced.
    ir::NodeId make(ir::Op op, std::vector<ir::NodeId> operands, Attributes attributes = {});
    /// The same; nothing where the shape rule cannot prove that it fits.
    std::optional<ir::NodeId> try_make(ir::Op op, std::vector<ir::NodeId> operands, Attributes attributes = {});
    /// A scalar constant, rounded to `dtype`.
    ir::NodeId scalar(DType dtype, double value);
    ir::NodeId constant(DType dtype, Shape shape, std::vector<double> values);
    /// The same of integers, each reduced to `dtype` as by `cast`, exactly where that is i64.
    ir::NodeId constant(DType dtype, Shape shape, std::span<const std::int64_t> values);
    /// `id`, broadcast or reshaped if it has another shape.
    ir::NodeId broadcast_to(ir::NodeId id, const Shape& shape);
    ir::NodeId reshape_to(ir::NodeId id, const Shape& shape);
    /// `value` in every element of a tensor like `id`.
    ir::NodeId filled_like(ir::NodeId id, double value);

    /// A node of the new graph. The reference holds until the next node is made.
    const ir::Node& node(ir::NodeId id) const { return graph_->node(id); }
    /// The operand `index` of `id`.
    ir::NodeId operand(ir::NodeId id, std::size_t index) const { return graph_->node(id).operands[index]; }
    bool is(ir::NodeId id, ir::Op op) const { return graph_->node(id).op == op; }
    /// The value of all elements, where `id` is a scalar constant or repeats one.
    std::optional<double> scalar_value(ir::NodeId id) const;
    /// True when scalar_value(id) is `value`, zeros of either sign being equal.
    bool is_scalar(ir::NodeId id, double value) const { return scalar_value(id) == value; }
    /// True when no element can be below zero or be -0 (NaN is possible).
    bool is_nonnegative(ir::NodeId id) const { return is_nonnegative(id, 8); }

    const Options& options() const noexcept { return options_; }
    const std::shared_ptr<ir::GraphData>& graph() const noexcept { return graph_; }
    /// How many rewrites were made, and whether operands were put in order.
    int rewrites() const noexcept { return rewrites_; }

private:
    ir::NodeId constant(ir::Node node);
    bool sort_operands(ir::Node& added) const;
    ir::NodeId simplified(ir::NodeId id);
    std::optional<ir::NodeId> rewrite_once(ir::NodeId id);
    bool is_nonnegative(ir::NodeId id, int depth) const;

    std::shared_ptr<ir::GraphData> graph_;
    const RuleTable& rules_;
    std::vector<std::optional<ir::NodeId>> simplified_;  // of each node of the new graph, where known
    const Options& options_;
    std::source_location where_;
    std::string composite_;
    int rewrites_ = 0;
    int depth_ = 0;
};

/// A list attribute of one or more axes, sizes or flags.
inline Attributes attribute(std::string_view name, std::vector<Dim> value) {
    return {Attribute{std::string(name), std::move(value)}};
}

/// An axis, stored negative, as an index from the front.
inline std::size_t front_axis(const ir::Node& node, std::int64_t axis) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(node.shape.size()) : axis);
}

}  // namespace cairn::simplify
