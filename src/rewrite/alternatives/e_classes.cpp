#include "rewrite/alternatives/e_classes.hpp"

#include "graph/ir/op_table.hpp"
#include "rewrite/alternatives/equivalence_prover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cairn::alternatives {
namespace {

using ir::NodeId;

std::string fault_in_order(const ir::GraphData& graph, const EClasses& classes) {
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        for (const NodeId operand : graph.node(id).operands)
            for (const NodeId expression : classes.expressions(classes.value_of(operand)))
                if (expression >= id)
                    return fmt::format("%{} reads %{}, of which %{} is an expression that comes later", id, operand,
                                       expression);
    return {};
}

std::string fault_in_types(const ir::GraphData& graph, const EClasses& classes) {
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        const NodeId value = classes.value_of(id);
        const ir::Node &expression = graph.node(id), &first = graph.node(value);
        const auto all = classes.expressions(value);
        if (std::find(all.begin(), all.end(), id) == all.end())
            return fmt::format("%{} is not among the expressions of %{}", id, value);
        if (expression.dtype != first.dtype || expression.shape != first.shape)
            return fmt::format("%{} is {}, and %{} is {}", id, cairn::to_string(expression.dtype, expression.shape),
                               value, cairn::to_string(first.dtype, first.shape));
    }
    return {};
}

std::string fault_in_values(const ir::GraphData& graph, const EClasses& classes) {
    EquivalenceProver prover(graph, classes, {});
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        if (classes.value_of(id) != id && !prover.is_proved(id))
            return fmt::format("%{} is not %{} by its normal form ({})", id, classes.value_of(id),
                               to_string(classes.laws_of(id)));
    return {};
}

std::string fault_in_rounding(const ir::GraphData& graph, const EClasses& classes, NodeId value, NodeId narrow) {
    const ir::Node &of = graph.node(value), &node = graph.node(narrow);
    const auto fault = [&](std::string_view why) {
        return fmt::format("%{} is not %{} rounded: {}", narrow, value, why);
    };
    if (classes.value_of(value) != value) return fault("that is not the first expression");
    if (node.shape != of.shape || !is_widening(node.dtype, of.dtype)) return fault("by its type");
    const bool is_cast = node.op == ir::Op::cast && node.operands[0] == value;
    const bool is_view = node.op == of.op && node.attributes == of.attributes && node.operands.size() == 1 &&
                         ir::is(node, ir::OpClass::movement) && classes.is_rounded(of.operands[0], node.operands[0]);
    if (!is_cast && !is_view) return fault("neither cast nor view");
    for (const NodeId other : classes.rounded(value)) {
        if (other == narrow) break;
        if (graph.node(other).dtype == node.dtype) return fault(fmt::format("%{} is another of its dtype", other));
    }
    return {};
}

std::string fault_in_roundings(const ir::GraphData& graph, const EClasses& classes) {
    for (const auto& [value, forms] : classes.all_rounded())
        for (const NodeId narrow : forms)
            if (std::string fault = fault_in_rounding(graph, classes, value, narrow); !fault.empty()) return fault;
    return {};
}

}  // namespace

EClasses::EClasses(const ir::GraphData& graph) : value_of_(graph.nodes().size()) {
    std::iota(value_of_.begin(), value_of_.end(), NodeId{0});
}

std::span<const NodeId> EClasses::expressions(NodeId value) const {
    const auto it = others_.find(value);
    if (it == others_.end()) return {&value_of_[value], 1};
    return it->second;
}

Laws EClasses::laws_of(NodeId node) const {
    const auto it = laws_.find(node);
    return it == laws_.end() ? Laws() : it->second;
}

std::span<const NodeId> EClasses::rounded(NodeId value) const {
    const auto it = rounded_.find(value);
    return it == rounded_.end() ? std::span<const NodeId>() : std::span<const NodeId>(it->second);
}

bool EClasses::is_rounded(NodeId value, NodeId narrow) const {
    const auto forms = rounded(value);
    return std::find(forms.begin(), forms.end(), narrow) != forms.end();
}

void EClasses::round(NodeId value, NodeId narrow) {
    if (!is_rounded(value, narrow)) rounded_[value].push_back(narrow);
}

void EClasses::join(NodeId value, NodeId expression, Laws laws) {
    std::vector<NodeId>& all = others_[value];
    if (all.empty()) all.push_back(value);
    all.push_back(expression);
    value_of_[expression] = value;
    laws_[expression] = laws;
    all_laws_ = all_laws_ | laws;
    most_ = std::max(most_, all.size());
}

EClasses proved(const ir::GraphData& graph, const EClasses& classes, const std::stop_token& stop) {
    EClasses result(graph);
    for (const auto& [value, forms] : classes.all_rounded())
        for (const NodeId narrow : forms) result.round(value, narrow);
    if (classes.have_one_expression_each()) return result;
    EquivalenceProver prover(graph, classes, stop);
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("expand");
        if (const NodeId value = classes.value_of(id); value != id && prover.is_proved(id))
            result.join(value, id, classes.laws_of(id));
    }
    return result;
}

std::string verify(const ir::GraphData& graph, const EClasses& classes) {
    for (const auto& check : {fault_in_types, fault_in_order, fault_in_values, fault_in_roundings})
        if (std::string fault = check(graph, classes); !fault.empty()) return fault;
    return {};
}

std::string to_string(const ir::GraphData& graph, const EClasses& classes) {
    std::string text;
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        const auto all = classes.expressions(id);
        if (classes.value_of(id) != id || all.size() == 1) continue;
        text += fmt::format("%{} =", id);
        for (const NodeId other : all.subspan(1))
            text += fmt::format("{} %{} {}", other == all[1] ? "" : ",", other, to_string(classes.laws_of(other)));
        text += "\n";
    }
    for (const auto& [value, forms] : classes.all_rounded())
        for (const NodeId narrow : forms) text += fmt::format("%{} rounded: %{}\n", value, narrow);
    return text;
}

}  // namespace cairn::alternatives
