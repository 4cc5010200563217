#include "rewrite/alternatives/equivalence_prover.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cairn::alternatives {

using ir::Node;
using ir::NodeId;

namespace {

// Maximum number of nodes between a value and its expression; beyond it the whole graph is normalized.
constexpr std::size_t max_region = 512;

}  // namespace

EquivalenceProver::EquivalenceProver(const ir::GraphData& graph, const EClasses& classes, std::stop_token stop)
    : graph_(graph), classes_(classes), stop_(std::move(stop)), bound_(ir::bind_time_nodes(graph)) {}

// Walks from both nodes towards operands, users before the nodes they read; nodes on which both depend are given.
std::optional<EquivalenceProver::ProofRegion> EquivalenceProver::between(NodeId value, NodeId expression) const {
    constexpr unsigned of_value = 1, of_expression = 2;
    std::map<NodeId, unsigned, std::greater<>> open{{value, of_value}, {expression, of_expression}};
    ProofRegion result;
    while (!open.empty()) {
        const auto [id, side] = *open.begin();
        open.erase(open.begin());
        if (result.nodes.size() == max_region) return std::nullopt;
        const bool is_given = side == (of_value | of_expression);
        result.nodes.push_back(id);
        result.is_given.push_back(is_given);
        if (is_given) continue;
        for (const NodeId operand : graph_.node(id).operands) open[operand] |= side;
    }
    std::reverse(result.nodes.begin(), result.nodes.end());
    std::reverse(result.is_given.begin(), result.is_given.end());
    return result;
}

normal_form::ScaledTerm EquivalenceProver::form_of(NodeId id, bool is_given,
                                                   const std::map<NodeId, normal_form::ScaledTerm>& forms,
                                                   normal_form::Normalizer& normalizer) const {
    const Node& node = graph_.node(id);
    if (is_given && !node.operands.empty()) {
        Node given;
        given.op = bound_[id] ? ir::Op::weight : ir::Op::input;
        given.dtype = node.dtype;
        given.shape = node.shape;
        return normalizer.of(given, id, {});
    }
    std::vector<normal_form::ScaledTerm> operands;
    for (const NodeId operand : node.operands) operands.push_back(forms.at(operand));
    return normalizer.of(node, id, operands);
}

bool EquivalenceProver::is_proved_locally(NodeId value, NodeId expression) {
    const auto region = between(value, expression);
    if (!region) return false;
    const Laws laws = classes_.laws_of(expression);
    normal_form::Normalizer& normalizer = normalizers_.try_emplace(to_string(laws), laws).first->second;
    std::map<NodeId, normal_form::ScaledTerm> forms;
    for (std::size_t i = 0; i < region->nodes.size(); ++i)
        forms[region->nodes[i]] = form_of(region->nodes[i], region->is_given[i], forms, normalizer);
    return normalizer.same(forms.at(value), forms.at(expression));
}

bool EquivalenceProver::is_proved_globally(NodeId value, NodeId expression) {
    const Laws laws = classes_.laws_of(expression);
    auto known = forms_.find(to_string(laws));
    if (known == forms_.end()) known = forms_.try_emplace(to_string(laws), graph_, laws, stop_).first;
    const normal_form::NormalForms& forms = known->second;
    return forms.normalizer().same(forms[expression], forms[value]);
}

bool EquivalenceProver::is_proved(NodeId expression) {
    if (stop_.stop_requested()) throw Cancelled("expand");
    const NodeId value = classes_.value_of(expression);
    return is_proved_locally(value, expression) || is_proved_globally(value, expression);
}

}  // namespace cairn::alternatives
