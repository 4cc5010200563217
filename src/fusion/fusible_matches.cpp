#include "fusion/fusible_matches.hpp"

#include "fusion/pattern.hpp"
#include "graph/ir/op_table.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

namespace cairn::fusion {

using ir::NodeId;

namespace {

// As written in the graph, however large the forms of its operands are.
bool is_product(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.op == ir::Op::matmul && graph.node(node.operands[0]).shape.size() >= 2 &&
           graph.node(node.operands[1]).shape.size() == 2;
}

}  // namespace

FusibleMatches::FusibleMatches(const ir::GraphData& graph, const normal_form::NormalForms& forms,
                               const alternatives::EClasses& classes, std::span<const Pattern> patterns,
                               std::vector<std::vector<Match>>& matches, const std::stop_token& stop)
    : classes_(&classes),
      steps_(matches.size()),
      anchors_(matches.size()),
      inside_(matches.size()),
      has_form_of_value_(matches.size()) {
    std::map<std::string_view, FusionRole> part_of;
    for (const Pattern& pattern : patterns) part_of.emplace(pattern.definition->name, pattern.definition->fusion_role);
    for (NodeId id = 0; id < matches.size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        const auto first = std::stable_partition(matches[id].begin(), matches[id].end(), [&](const Match& match) {
            return part_of.at(match.definition) != FusionRole::product;
        });
        anchors_[id].assign(std::make_move_iterator(first), std::make_move_iterator(matches[id].end()));
        matches[id].erase(first, matches[id].end());
        if (anchors_[id].empty() && is_product(graph, id)) {
            const ir::Node& node = graph.node(id);
            Match& product = anchors_[id].emplace_back();
            for (const NodeId operand : node.operands) product.inputs.push_back(classes.value_of(operand));
        }
        for (Match& product : anchors_[id]) product.definition = ir::info(ir::Op::matmul).name;
        for (const Match& match : matches[id])
            if (part_of.at(match.definition) == FusionRole::anchor) anchors_[id].push_back(match);
        has_form_of_value_[id] =
            !anchors_[id].empty() && forms.normalizer().same(forms[id], forms[classes.value_of(id)]);
        for (const Match& match : matches[id]) {
            if (part_of.at(match.definition) != FusionRole::step || steps_[id] != nullptr) continue;
            steps_[id] = &match;
            for (const NodeId inside : match.interior) inside_[inside] = true;
        }
    }
}

std::span<const Match> FusibleMatches::anchors_at(NodeId node) const {
    return anchors_.empty() ? std::span<const Match>() : anchors_[node];
}

std::vector<const Match*> FusibleMatches::anchors_of(NodeId value) const {
    std::vector<const Match*> found;
    if (anchors_.empty()) return found;
    for (const NodeId expression : classes_->expressions(classes_->value_of(value)))
        for (const Match& match : anchors_[expression])
            if (has_form_of_value_[expression] && std::none_of(found.begin(), found.end(), [&](const Match* known) {
                    return known->definition == match.definition && known->inputs == match.inputs &&
                           known->attributes == match.attributes;
                }))
                found.push_back(&match);
    return found;
}

}  // namespace cairn::fusion
