#include "rewrite/alternatives/expander.hpp"

#include "graph/ir/infer.hpp"
#include "rewrite/alternatives/expand.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace cairn::alternatives {

using ir::NodeId;

Expander::Expander(const ir::GraphData& source, std::stop_token stop)
    : stop_(std::move(stop)), graph_(std::make_shared<ir::GraphData>(source.name(), source.symbols())) {
    std::vector<NodeId> map(source.nodes().size(), 0);
    for (NodeId id = 0; id < map.size(); ++id) {
        go_on();
        map[id] = ir::copy_node(source.node(id), map, *graph_);
    }
    ir::copy_outputs_and_states(source, map, *graph_);
    original_count_ = size();
    is_read_outside_.resize(original_count_);
    for (const ir::Output& output : graph_->outputs()) is_read_outside_[output.node] = true;
    for (const ir::StateInfo& state : graph_->states()) is_read_outside_[state.latest] = true;
    const std::vector<bool> bound = ir::bind_time_nodes(*graph_);
    for (NodeId id = 0; id < original_count_; ++id) {
        note(id);
        rank_[id] = bound[id] ? 0 : id + 1;
    }
}

void Expander::go_on() const {
    if (stop_.stop_requested()) throw Cancelled("expand");
}

// The rank of a new node is the highest of the values it reads.
void Expander::note(NodeId id) {
    NodeId rank = 0;
    for (const NodeId operand : node(id).operands) rank = std::max(rank, rank_[value_of(operand)]);
    classes_.add();
    rank_.push_back(rank);
    users_.emplace_back();
    for (const NodeId operand : node(id).operands)
        if (users_[operand].empty() || users_[operand].back() != id) users_[operand].push_back(id);
}

std::optional<NodeId> Expander::single_user(NodeId value) const {
    if (!is_original(value) || is_read_outside_[value]) return std::nullopt;
    const auto& users = users_[value];
    if (users.empty() || !is_original(users[0]) || (users.size() > 1 && is_original(users[1]))) return std::nullopt;
    return users[0];
}

std::optional<NodeId> Expander::make(ir::Op op, std::vector<NodeId> operands, Attributes attributes, NodeId like) {
    ir::Node added;
    try {
        ir::Inferred inferred = ir::infer(*graph_, op, operands, attributes, node(like).where);
        added.dtype = inferred.dtype;
        added.shape = std::move(inferred.shape);
    } catch (const InternalError&) { throw; } catch (const Error&) {
        return std::nullopt;
    }
    added.op = op;
    added.operands = operands;
    added.attributes = std::move(attributes);
    added.where = node(like).where;
    added.composite = node(like).composite;
    const NodeId id = graph_->intern(std::move(added));
    if (id == rank_.size()) note(id);
    return id;
}

bool Expander::join(NodeId value, NodeId expression, Laws laws) {
    if (!is_original(value) || is_original(expression) || is_joined(expression) || !users_[expression].empty())
        return false;
    const ir::Node &first = node(value), &other = node(expression);
    if (first.dtype != other.dtype || first.shape != other.shape || rank_[expression] >= rank_[value]) return false;
    classes_.join(value, expression, laws);
    return true;
}

// The program's nodes, and the nodes on which joined expressions and rounded copies depend.
std::vector<bool> Expander::kept() const {
    std::vector<bool> kept(size(), false);
    for (const auto& [value, forms] : classes_.all_rounded())
        for (const NodeId narrow : forms) kept[narrow] = true;
    for (NodeId id = size(); id-- > 0;) {
        kept[id] = kept[id] || is_original(id) || is_joined(id);
        if (kept[id])
            for (const NodeId operand : node(id).operands) kept[operand] = true;
    }
    return kept;
}

// Order by rank: the value of that rank, its other expressions, then new nodes computed from values up to it.
Expansion Expander::finish() const {
    if (size() == original_count_) return {graph_, EClasses(*graph_)};
    Expansion result;
    std::vector<NodeId> order(size());
    std::iota(order.begin(), order.end(), NodeId{0});
    const std::vector<bool> stays = kept();
    std::erase_if(order, [&](NodeId id) { return !stays[id]; });
    const auto order_of = [&](NodeId id) {
        return std::tuple(rank_[value_of(id)], is_original(id) ? 0 : is_joined(id) ? 1 : 2, id);
    };
    if (!classes_.have_one_expression_each())
        std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return order_of(a) < order_of(b); });
    result.graph = std::make_shared<ir::GraphData>(graph_->name(), graph_->symbols());
    std::vector<NodeId> map(size(), 0);
    for (const NodeId id : order) {
        go_on();
        map[id] = ir::copy_node(node(id), map, *result.graph);
    }
    ir::copy_outputs_and_states(*graph_, map, *result.graph);
    result.classes = EClasses(*result.graph);
    for (const NodeId id : order)
        if (is_joined(id)) result.classes.join(map[value_of(id)], map[id], laws_of(id));
    for (const auto& [value, forms] : classes_.all_rounded())
        for (const NodeId narrow : forms) result.classes.round(map[value], map[narrow]);
    return result;
}

}  // namespace cairn::alternatives
