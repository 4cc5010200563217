#include "fuse/match.hpp"

#include "fuse/search.hpp"

#include <algorithm>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

bool is_free(const ir::Node& node) {
    return node.op == ir::Op::input || node.op == ir::Op::weight || node.op == ir::Op::constant || node.op == ir::Op::state_read;
}

// A pattern can only stand where the form has the same outermost op.
bool same_outside(const Term& a, const Term& b) {
    return a.kind == b.kind && (a.kind != TermKind::op || a.op == b.op);
}

}  // namespace

Matcher::Matcher(const ir::GraphData& graph, std::span<const Pattern> patterns)
    : graph_(graph), patterns_(patterns), forms_(graph), regions_(graph), instances_(graph.symbols()), known_(patterns.size()) {}

std::vector<Attributes>& Matcher::known_attributes(const Pattern& pattern) {
    return known_[static_cast<std::size_t>(&pattern - patterns_.data())];
}

void Matcher::match_at(NodeId node, std::vector<Tile>& tiles) {
    if (is_free(graph_.node(node))) return;
    const Term& outside = forms_.canon().term(forms_[node].core);
    const std::uint64_t marks = regions_.from(node).marks;
    for (const Pattern& pattern : patterns_) {
        const NodeId root = pattern.skeleton.outputs[pattern.main];
        const Term& wanted = pattern.forms->canon().term((*pattern.forms)[root].core);
        const std::uint64_t needed = pattern.regions->from(root).marks;
        if (!same_outside(outside, wanted) || (needed & ~marks) != 0) continue;
        if (auto tile = search(*this, pattern, node)) tiles.push_back(std::move(*tile));
    }
}

bool Matcher::depends_on(NodeId node, NodeId ancestor) const {
    std::vector<NodeId> open{node};
    std::vector<bool> seen(graph_.nodes().size(), false);
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        if (at == ancestor) return true;
        if (at < ancestor || seen[at]) continue;
        seen[at] = true;
        open.insert(open.end(), graph_.node(at).operands.begin(), graph_.node(at).operands.end());
    }
    return false;
}

std::vector<NodeId> Matcher::interior(const Tile& tile) const {
    std::vector<NodeId> found, open = tile.outputs;
    const auto in = [](const std::vector<NodeId>& list, NodeId id) { return std::find(list.begin(), list.end(), id) != list.end(); };
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        if (in(tile.inputs, at) || in(found, at) || is_free(graph_.node(at))) continue;
        found.push_back(at);
        open.insert(open.end(), graph_.node(at).operands.begin(), graph_.node(at).operands.end());
    }
    std::erase_if(found, [&](NodeId id) { return in(tile.outputs, id); });
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<Tile> Matcher::prove(const Attempt& attempt) {
    const Pattern& pattern = *attempt.pattern;
    std::vector<TensorDesc> operands;
    std::vector<Scaled> values;
    for (const NodeId id : attempt.operands) {
        operands.push_back({graph_.node(id).dtype, graph_.node(id).shape, {}, {}, false});
        values.push_back(forms_[id]);
    }
    const std::optional<Instance>& instance = instances_.of(*pattern.definition, operands, attempt.attributes);
    if (!instance) return std::nullopt;
    const auto fits = [&](NodeId id, std::size_t output) {
        const ir::Node &node = graph_.node(id), &made = instance->graph->node(instance->outputs[output]);
        return node.dtype == made.dtype && node.shape == made.shape;
    };
    if (!fits(attempt.root, pattern.main)) return std::nullopt;
    forms_over(*instance->graph, instance->inputs, values, forms_.canon(), made_);
    if (!Canon::same(made_[instance->outputs[pattern.main]], forms_[attempt.root])) return std::nullopt;

    Tile tile;
    tile.definition = pattern.definition->name;
    tile.attributes = attempt.attributes;
    tile.inputs = attempt.operands;
    for (std::size_t i = 0; i < instance->outputs.size(); ++i) {
        NodeId output = attempt.root;
        if (i != pattern.main) {
            const std::vector<NodeId> same = forms_.nodes_of(made_[instance->outputs[i]]);
            const auto it = std::find_if(same.begin(), same.end(), [&](NodeId id) {
                return fits(id, i) && !is_free(graph_.node(id)) && id != attempt.root;
            });
            if (it == same.end()) return std::nullopt;
            output = *it;
        }
        for (const NodeId input : tile.inputs)
            if (depends_on(input, output)) return std::nullopt;
        tile.outputs.push_back(output);
    }
    tile.interior = interior(tile);
    return tile;
}

}  // namespace cairn::inline v0::fuse
