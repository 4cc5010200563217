#include "expand/judge.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cairn::inline v0::expand {

using ir::Node;
using ir::NodeId;

namespace {

// What lies between a value and its spelling at most: else the whole graph is looked at.
constexpr std::size_t most_between = 512;

}  // namespace

Judge::Judge(const ir::GraphData& graph, const Classes& classes, std::stop_token stop)
    : graph_(graph), classes_(classes), stop_(std::move(stop)), bound_(ir::bound_nodes(graph)) {}

// From both downward, users before what they read; what both rest on is given.
std::optional<Judge::Between> Judge::between(NodeId value, NodeId spelling) const {
    constexpr unsigned of_value = 1, of_spelling = 2;
    std::map<NodeId, unsigned, std::greater<>> open{{value, of_value}, {spelling, of_spelling}};
    Between result;
    while (!open.empty()) {
        const auto [id, side] = *open.begin();
        open.erase(open.begin());
        if (result.nodes.size() == most_between) return std::nullopt;
        const bool is_given = side == (of_value | of_spelling);
        result.nodes.push_back(id);
        result.is_given.push_back(is_given);
        if (is_given) continue;
        for (const NodeId operand : graph_.node(id).operands) open[operand] |= side;
    }
    std::reverse(result.nodes.begin(), result.nodes.end());
    std::reverse(result.is_given.begin(), result.is_given.end());
    return result;
}

canon::Scaled Judge::form_of(NodeId id, bool is_given, const std::map<NodeId, canon::Scaled>& forms,
                             canon::Canon& canon) const {
    const Node& node = graph_.node(id);
    if (is_given && !node.operands.empty()) {
        Node given;
        given.op = bound_[id] ? ir::Op::weight : ir::Op::input;
        given.dtype = node.dtype;
        given.shape = node.shape;
        return canon.of(given, id, {});
    }
    std::vector<canon::Scaled> operands;
    for (const NodeId operand : node.operands) operands.push_back(forms.at(operand));
    return canon.of(node, id, operands);
}

bool Judge::is_proved_between(NodeId value, NodeId spelling) {
    const auto region = between(value, spelling);
    if (!region) return false;
    const Laws laws = classes_.laws_of(spelling);
    canon::Canon& canon = canons_.try_emplace(to_string(laws), laws).first->second;
    std::map<NodeId, canon::Scaled> forms;
    for (std::size_t i = 0; i < region->nodes.size(); ++i)
        forms[region->nodes[i]] = form_of(region->nodes[i], region->is_given[i], forms, canon);
    return canon.same(forms.at(value), forms.at(spelling));
}

bool Judge::is_proved_by_all(NodeId value, NodeId spelling) {
    const Laws laws = classes_.laws_of(spelling);
    auto known = forms_.find(to_string(laws));
    if (known == forms_.end()) known = forms_.try_emplace(to_string(laws), graph_, laws, stop_).first;
    const canon::Forms& forms = known->second;
    return forms.canon().same(forms[spelling], forms[value]);
}

bool Judge::is_proved(NodeId spelling) {
    if (stop_.stop_requested()) throw Cancelled("expand");
    const NodeId value = classes_.value_of(spelling);
    return is_proved_between(value, spelling) || is_proved_by_all(value, spelling);
}

}  // namespace cairn::inline v0::expand
