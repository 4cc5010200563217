#include "rewrite/simplify/simplify.hpp"

#include "graph/ir/op_table.hpp"
#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;

// Maximum number of passes; a fixed point takes two.
constexpr int pass_limit = 32;

bool is_named_leaf(const ir::Node& node) {
    return node.op == Op::input || node.op == Op::weight || node.op == Op::state_read;
}

std::vector<NodeId> plain(const std::vector<std::optional<NodeId>>& map) {
    std::vector<NodeId> result;
    result.reserve(map.size());
    for (const auto& id : map) result.push_back(id.value_or(0));
    return result;
}

// Returns the graph without the nodes that no output or state commit reads; the same graph if all nodes are read. Named
// leaves stay: callers bind them by name.
Simplified without_dead(const std::shared_ptr<ir::GraphData>& whole, const std::stop_token& stop) {
    const ir::GraphData& graph = *whole;
    Simplified result;
    result.map.resize(graph.nodes().size());
    const std::vector<bool> live = ir::live_nodes(graph);
    const auto stays = [&](NodeId id) { return live[id] || is_named_leaf(graph.node(id)); };
    std::vector<NodeId> map(graph.nodes().size(), 0);
    NodeId kept = 0;
    while (kept < graph.nodes().size() && stays(kept)) result.map[kept] = kept, ++kept;
    if (kept == graph.nodes().size()) {
        result.graph = whole;
        return result;
    }
    result.changed = true;
    result.graph = std::make_shared<ir::GraphData>(graph.name(), graph.symbols());
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("simplify");
        if (!stays(id)) continue;
        map[id] = ir::copy_node(graph.node(id), map, *result.graph);
        result.map[id] = map[id];
    }
    ir::copy_outputs_and_states(graph, map, *result.graph);
    return result;
}

// One pass over all live nodes, followed by dead node elimination.
Simplified pass(const ir::GraphData& graph, const RuleTable& rules, const Options& options) {
    Rewriter rewriter(graph, rules, options);
    const std::vector<bool> live = ir::live_nodes(graph);
    std::vector<std::optional<NodeId>> map(graph.nodes().size());
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        if (!live[id] && !is_named_leaf(graph.node(id))) continue;
        if (options.stop.stop_requested()) throw Cancelled("simplify");
        ir::Node node = graph.node(id);
        for (NodeId& operand : node.operands) operand = *map[operand];
        node.label.clear();  // moved to the node that replaces the value
        map[id] = rewriter.add(std::move(node));
        rewriter.graph()->inherit_label(*map[id], graph.node(id).label);
    }
    ir::copy_outputs_and_states(graph, plain(map), *rewriter.graph());

    Simplified result = without_dead(rewriter.graph(), options.stop);
    for (auto& id : map)
        if (id) id = result.map[*id];
    bool moved = rewriter.rewrites() > 0;
    for (NodeId id = 0; id < map.size(); ++id) moved = moved || map[id] != id;
    result.map = std::move(map);
    result.changed = moved;
    return result;
}

Simplified to_fixed_point(const ir::GraphData& graph, const RuleTable& rules, const Options& options) {
    Simplified result = pass(graph, rules, options);
    if (!result.changed) return result;
    for (int i = 0; i < pass_limit; ++i) {
        Simplified next = pass(*result.graph, rules, options);
        if (!next.changed) return result;
        for (auto& id : result.map)
            if (id) id = next.map[*id];
        result.graph = std::move(next.graph);
    }
    throw InternalError("simplify", "rules do not reach a fixed point");
}

RuleTable enabled_among(std::span<const Rule> rules, const Options& options) {
    std::vector<Rule> enabled;
    std::copy_if(rules.begin(), rules.end(), std::back_inserter(enabled), [&](const Rule& rule) {
        return std::find(options.disabled.begin(), options.disabled.end(), rule.name) == options.disabled.end();
    });
    return RuleTable(std::move(enabled));
}

}  // namespace

RuleTable::RuleTable(std::vector<Rule> rules) : rules_(std::move(rules)), begins_(ir::op_table().size() + 1, 0) {
    std::stable_sort(rules_.begin(), rules_.end(), [](const Rule& a, const Rule& b) { return a.root < b.root; });
    for (const Rule& rule : rules_) ++begins_[static_cast<std::size_t>(rule.root) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
}

std::string_view to_string(Rounding rounding) noexcept { return rounding == Rounding::exact ? "exact" : "rounded"; }

std::vector<Rule> all_rules() {
    std::vector<Rule> rules;
    for (const auto family : {constant_rules(), cast_rules(), movement_rules(), slicing_rules(), reduction_rules(),
                              algebra_rules(), power_rules(), logic_rules()})
        rules.insert(rules.end(), family.begin(), family.end());
    return rules;
}

Simplified simplify_with_rules(const ir::GraphData& graph, std::span<const Rule> rules, const Options& options) {
    return to_fixed_point(graph, enabled_among(rules, options), options);
}

// The table of all rules is built once: hundreds of definitions are simplified.
Simplified simplify(const ir::GraphData& graph, const Options& options) {
    static const std::vector<Rule> rules = all_rules();
    static const RuleTable all(rules);
    return options.disabled.empty() ? to_fixed_point(graph, all, options) : simplify_with_rules(graph, rules, options);
}

}  // namespace cairn::simplify
