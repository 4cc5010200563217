#include "fusion/fusion_groups.hpp"

#include "fusion/candidate_numbers.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/hash.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace cairn::fusion {
namespace {

using ir::NodeId;
using ir::Op;

constexpr std::size_t max_steps = 64;
constexpr std::size_t max_inputs = 16, anchor_inputs = 3;

// In a group of this many ops no link of a chain is the root of a group of its own. Otherwise there would be as many
// long groups as ops, and it does not matter where a chain is cut.
constexpr std::size_t long_group = 16;
constexpr int chain_steps = 4;

// True for a number that a body can hold.
bool is_scalar_constant(const ir::Node& node) {
    return node.op == Op::constant && node.shape.empty() && node.exact_integers == nullptr;
}

bool is_matmul(const Match& anchor) { return anchor.definition == ir::info(Op::matmul).name; }

template <typename T>
bool contains(const std::vector<T>& list, const T& id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

// A group under construction: its members in topological order, the root last, and what they read.
struct FusionGroups::Group {
    explicit Group(NodeId at, GroupStart begins_with = GroupStart::none) : root(at), start(begins_with) {}

    NodeId root;
    GroupStart start;
    std::optional<NodeId> anchor;  // the value that it starts from
    std::vector<NodeId> members, reads, inputs, constants;
    std::vector<NodeId> open;  // reads that may join and have not been refused
    bool has_shared = false;   // a producer that is also read elsewhere was considered
    bool read_again = false;   // a producer was refused for the memory it reads
};

// The values that the members of a group read: all, tensors (the others are numbers), and tensors of the root's shape.
struct FusionGroups::Boundary {
    std::size_t reads = 0, inputs = 0, large = 0;
    void count(const NodeFacts& node_facts, const NodeFacts& root, int sign) {
        reads += static_cast<std::size_t>(sign);
        if (!node_facts.number) inputs += static_cast<std::size_t>(sign);
        if (node_facts.shape == root.shape) large += static_cast<std::size_t>(sign);
    }
};

FusionGroups::FusionGroups(const ir::GraphData& graph, const alternatives::EClasses& classes,
                           const FusibleMatches& parts, std::stop_token stop)
    : graph_(graph),
      classes_(classes),
      parts_(parts),
      stop_(std::move(stop)),
      uses_(ir::use_counts(graph)),
      node_facts_(graph.nodes().size()),
      role_marks_(graph.nodes().size()),
      ancestors_(graph, classes, stop_) {
    const std::vector<bool> bound = ir::bind_time_nodes(graph);
    std::unordered_multimap<std::size_t, NodeId> first_of_shape;
    for (NodeId id = 0; id < node_facts_.size(); ++id) {
        if (stop_.stop_requested()) throw Cancelled("fuse");
        const ir::Node& node = graph.node(id);
        const ir::OpInfo& info = ir::info(node.op);
        const bool is_shared = uses_[id] > 1 || classes_.expressions(classes_.value_of(id)).size() > 1;
        node_facts_[id] = {id,
                           info.kind == ir::OpClass::elementwise,
                           info.work == ir::ElementCost::cheap,
                           is_scalar_constant(node),
                           is_shared,
                           bound[id]};
        std::size_t hash = 0;
        types::hash_combine(hash, node.shape);
        const auto [first, last] = first_of_shape.equal_range(hash);
        const auto same =
            std::find_if(first, last, [&](const auto& other) { return graph.node(other.second).shape == node.shape; });
        if (same == last)
            first_of_shape.emplace(hash, id);
        else
            node_facts_[id].shape = same->second;
    }
}

bool FusionGroups::may_join(NodeId producer, const Group& group) const {
    const NodeFacts &node_facts = node_facts_[producer], &root = node_facts_[group.root];
    // A bound value is computed once, at bind, and not for each element of a product.
    const bool is_there = group.start != GroupStart::none && node_facts.bound && !root.bound;
    return (node_facts.elementwise && (node_facts.shape == root.shape || (node_facts.cheap && !is_there))) ||
           is_anchor(producer, group);
}

// True for a value that the group may start from.
bool FusionGroups::is_anchor(NodeId id, const Group& group) const {
    if (group.start == GroupStart::none || group.anchor || node_facts_[id].shape != node_facts_[group.root].shape)
        return false;
    return group.start == GroupStart::anchor ? !parts_.anchors_at(id).empty() : !parts_.anchors_of(id).empty();
}

// The operands of a member. In a group that starts from an anchor, a step that is a definition replaces the ops it
// consists of.
std::span<const NodeId> FusionGroups::operands_of(NodeId id, const Group& group) const {
    const Match* const step = group.start == GroupStart::none ? nullptr : parts_.step(id);
    if (step != nullptr) return {step->inputs.data(), step->inputs.size()};
    return {graph_.node(id).operands.data(), graph_.node(id).operands.size()};
}

// The boundary after `producer` becomes a member.
FusionGroups::Boundary FusionGroups::widened(Boundary boundary, NodeId producer, const Group& group) const {
    const NodeFacts& root = node_facts_[group.root];
    if (producer != group.root) boundary.count(node_facts_[producer], root, -1);
    const std::span<const NodeId> operands = operands_of(producer, group);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto before = operands.begin() + static_cast<std::ptrdiff_t>(i);
        if (role_of(operands[i]) == NodeRole::none && std::find(operands.begin(), before, operands[i]) == before)
            boundary.count(node_facts_[operands[i]], root, 1);
    }
    return boundary;
}

void FusionGroups::add_member(NodeId producer, Group& group, SharedPolicy shared) {
    group.members.push_back(producer);
    if (producer != group.root) group.reads.erase(std::find(group.reads.begin(), group.reads.end(), producer));
    set_role(producer, NodeRole::member);
    for (const NodeId operand : operands_of(producer, group))
        if (role_of(operand) == NodeRole::none) {
            group.reads.push_back(operand);
            set_role(operand, NodeRole::read);
            if (may_join(operand, group) && (shared != SharedPolicy::read || !node_facts_[operand].shared))
                group.open.push_back(operand);
        }
}

// Adds producers, newest first, while there is room. Returns false if the inputs do not fit, if there is none, or if no
// anchor is found for a group that must start from one.
bool FusionGroups::grow(Group& group, SharedPolicy shared) {
    ++group_;
    Boundary boundary = widened({}, group.root, group);
    add_member(group.root, group, shared);
    while (!group.open.empty()) {
        const auto newest = std::max_element(group.open.begin(), group.open.end());
        const NodeId next = *newest;
        *newest = group.open.back();
        group.open.pop_back();
        if (is_anchor(next, group) && is_read_inside(next, group)) {
            group.reads.erase(std::find(group.reads.begin(), group.reads.end(), next));
            group.anchor = next;
            set_role(next, NodeRole::member);
            continue;
        }
        if (!node_facts_[next].elementwise || is_anchor(next, group)) {
            set_role(next, NodeRole::refused);
            continue;
        }
        const auto is_computed_later = [&](NodeId input) {
            return input != next && ancestors_.may_depend_on(input, next);
        };
        const auto provided = [&] {
            return shared == SharedPolicy::provide && node_facts_[next].shape == node_facts_[group.root].shape &&
                   std::none_of(group.reads.begin(), group.reads.end(), is_computed_later);
        };
        const Boundary wider = widened(boundary, next, group);
        const bool again = uses_[next] > 1 && wider.large > boundary.large;
        group.has_shared = group.has_shared || node_facts_[next].shared;
        group.read_again = group.read_again || again;
        if (wider.inputs + (group.start == GroupStart::none ? 0 : anchor_inputs) > max_inputs ||
            group.members.size() + 1 + (wider.reads - wider.inputs) > max_steps || (again && !provided())) {
            set_role(next, NodeRole::refused);
            continue;
        }
        add_member(next, group, shared);
        boundary = wider;
    }
    std::sort(group.members.begin(), group.members.end());
    list_reads(group);
    if (group.start != GroupStart::none)
        return group.anchor.has_value() && group.inputs.size() + anchor_inputs <= max_inputs;
    return group.inputs.size() <= max_inputs && !group.inputs.empty();
}

// True if nothing outside the group reads a value, or what the group computes from it except the root: no product is
// computed twice.
bool FusionGroups::is_read_inside(NodeId value, const Group& group) const {
    std::vector<NodeId> inside = group.members;
    for (const NodeId id : group.members)
        if (const Match* const step = parts_.step(id))
            inside.insert(inside.end(), step->interior.begin(), step->interior.end());
    inside.push_back(value);
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    std::vector<int> uses(inside.size(), 0);
    std::vector<bool> depends_on_value(inside.size(), false);
    for (std::size_t i = 0; i < inside.size(); ++i) {
        depends_on_value[i] = inside[i] == value;
        if (depends_on_value[i]) continue;
        for (const NodeId operand : graph_.node(inside[i]).operands) {
            const auto at = std::lower_bound(inside.begin(), inside.end(), operand);
            if (at == inside.end() || *at != operand) continue;
            const auto index = static_cast<std::size_t>(at - inside.begin());
            ++uses[index];
            depends_on_value[i] = depends_on_value[i] || depends_on_value[index];
        }
    }
    for (std::size_t i = 0; i < inside.size(); ++i)
        if (depends_on_value[i] && inside[i] != group.root && uses[i] != uses_[inside[i]]) return false;
    return true;
}

// Lists inputs by age, and numbers in the order in which they are read.
void FusionGroups::list_reads(Group& group) {
    for (const NodeId member : group.members)
        for (const NodeId operand : operands_of(member, group)) {
            if (role_of(operand) == NodeRole::member || role_of(operand) == NodeRole::listed) continue;
            (node_facts_[operand].number ? group.constants : group.inputs).push_back(operand);
            set_role(operand, NodeRole::listed);
        }
    std::sort(group.inputs.begin(), group.inputs.end());
}

Match FusionGroups::match_of(const Group& group, const std::vector<NodeId>& outputs) {
    Match match;
    match.definition = "elementwise";
    for (const NodeId input : group.inputs) match.inputs.push_back(classes_.value_of(input));
    match.outputs = outputs;
    int values = 0;
    for (const NodeId id : group.inputs) role_marks_[id].value = values++;
    add_steps(group, values);
    match.body = body_builder_.finish();
    for (const NodeId output : outputs) match.results.push_back(role_marks_[output].value);
    for (const NodeId id : group.members)
        if (!contains(outputs, id)) match.interior.push_back(id);
    return match;
}

// Adds the group's numbers and members as steps; the first is value number `values`.
void FusionGroups::add_steps(const Group& group, int values) {
    for (const NodeId id : group.constants) {
        const ir::Node& node = graph_.node(id);
        body_builder_.constant(node.dtype, shortest_decimal(node.values->front(), node.dtype));
        role_marks_[id].value = values++;
    }
    std::vector<int> operands;
    for (const NodeId id : group.members) {
        const ir::Node& node = graph_.node(id);
        operands.clear();
        for (const NodeId operand : operands_of(id, group)) operands.push_back(role_marks_[operand].value);
        if (group.start != GroupStart::none && parts_.step(id) != nullptr)
            body_builder_.add(parts_.step(id)->definition, node.dtype, operands);
        else
            body_builder_.add(node.op, node.dtype, operands);
        role_marks_[id].value = values++;
    }
}

// The match of an anchor that computes `group.anchor`, with the group as epilogue; only the anchor if there are no
// members.
Match FusionGroups::match_of(const Group& group, const Match& anchor) {
    Match match;
    match.outputs = {group.root};
    match.attributes = anchor.attributes;
    match.inputs = {anchor.inputs[0], anchor.inputs[1]};
    match.interior = anchor.interior;
    const bool has_bias = anchor.inputs.size() > 2;
    if (!has_bias && group.members.empty()) {
        match.definition = ir::info(Op::matmul).name;
        return match;
    }
    match.definition = "fused";
    std::vector<NodeId> others = group.inputs;
    if (has_bias && !contains(others, anchor.inputs[2]))
        others.insert(std::upper_bound(others.begin(), others.end(), anchor.inputs[2]), anchor.inputs[2]);
    int values = 2;
    for (const NodeId id : others) {
        match.inputs.push_back(classes_.value_of(id));
        role_marks_[id].value = values++;
    }
    const DType dtype = graph_.node(*group.anchor).dtype;
    if (is_matmul(anchor))
        body_builder_.add(Op::matmul, dtype, std::array{0, 1});
    else
        body_builder_.add(anchor.definition, dtype, std::array{0, 1});
    if (has_bias) {
        body_builder_.add(Op::add, dtype, std::array{values, role_marks_[anchor.inputs[2]].value});
        ++values;
    }
    role_marks_[*group.anchor].value = values++;
    add_steps(group, values);
    match.body = body_builder_.finish();
    match.results = {role_marks_[group.root].value};
    std::vector<NodeId> inside(match.interior.begin(), match.interior.end());
    const auto add_inside = [&](NodeId id) {
        if (id != group.root && !contains(inside, id)) inside.push_back(id);
    };
    for (const NodeId id : group.members) {
        if (const Match* const step = parts_.step(id))
            std::for_each(step->interior.begin(), step->interior.end(), add_inside);
        add_inside(id);
    }
    add_inside(*group.anchor);
    match.interior = inside;
    return match;
}

// Members that are also read elsewhere and that the group can provide: of the root's shape, and with no input computed
// from them.
std::vector<NodeId> FusionGroups::shared_values(const Group& group) {
    const std::vector<int> inside = uses_inside(group);
    std::vector<NodeId> result;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        const NodeId id = group.members[i];
        if (id == group.root || node_facts_[id].shape != node_facts_[group.root].shape) continue;
        const auto is_computed_later = [&](NodeId input) { return ancestors_.may_depend_on(input, id); };
        if (uses_[id] > inside[i] && std::none_of(group.inputs.begin(), group.inputs.end(), is_computed_later))
            result.push_back(id);
    }
    return result;
}

// The number of reads of each member by members.
std::vector<int> FusionGroups::uses_inside(const Group& group) const {
    std::vector<int> uses(group.members.size(), 0);
    for (const NodeId reader : group.members)
        for (const NodeId operand : graph_.node(reader).operands) {
            const auto at = std::lower_bound(group.members.begin(), group.members.end(), operand);
            if (at != group.members.end() && *at == operand)
                ++uses[static_cast<std::size_t>(at - group.members.begin())];
        }
    return uses;
}

// True for a value that is read once and computed from one other value, and so on for `steps` values.
bool FusionGroups::is_link(NodeId id, int steps) const {
    if (steps == 0) return true;
    const std::vector<NodeId>& operands = graph_.node(id).operands;
    const auto computed = [&](NodeId operand) { return !node_facts_[operand].number; };
    return !node_facts_[id].shared && std::count_if(operands.begin(), operands.end(), computed) == 1 &&
           is_link(*std::find_if(operands.begin(), operands.end(), computed), steps - 1);
}

void FusionGroups::skip_chain_links(const Group& group, std::vector<bool>& skipped) const {
    if (group.members.size() < long_group) return;
    for (const NodeId id : group.members)
        if (id != group.root && is_link(id, chain_steps) && node_facts_[id].shape == node_facts_[group.root].shape)
            skipped[id] = true;
}

std::vector<std::vector<Match>> FusionGroups::all(const std::vector<bool>& requested) {
    std::vector<std::vector<Match>> matches(graph_.nodes().size());
    std::vector<bool> skipped(matches.size(), false);
    for (std::size_t i = matches.size(); i-- > 0;) {
        if (stop_.stop_requested()) throw Cancelled("fuse");
        const auto root = static_cast<NodeId>(i);
        add_anchors(root, matches[i]);
        if (skipped[i] && !requested[i]) continue;
        add_epilogue_groups(root, matches[i]);
        at(root, matches[i], skipped);
    }
    return matches;
}

// Adds the matmuls found at a node, alone; other anchors are matches already. If the node is a view, a product without
// a bias is a match of the viewed node.
void FusionGroups::add_anchors(NodeId root, std::vector<Match>& matches) {
    Group group(root);
    group.anchor = root;
    for (const Match& anchor : parts_.anchors_at(root))
        if (is_matmul(anchor) && (anchor.inputs.size() > 2 || node_facts_[root].elementwise))
            matches.push_back(match_of(group, anchor));
}

// Adds the epilogue group of an anchor found at any expression of a value. If that is not the expression which the
// group reads, also adds the group of an anchor found closer to the inputs.
void FusionGroups::add_epilogue_groups(NodeId root, std::vector<Match>& matches) {
    if (!node_facts_[root].elementwise || !parts_.anchors_at(root).empty() || parts_.is_inside_step(root)) return;
    for (const GroupStart start : {GroupStart::anchor_in_any_expression, GroupStart::anchor}) {
        Group group(root, start);
        if (!grow(group, SharedPolicy::recompute)) return;
        for (const Match* anchor : parts_.anchors_of(*group.anchor)) matches.push_back(match_of(group, *anchor));
        if (!parts_.anchors_at(*group.anchor).empty()) return;
    }
}

// The policies for shared values differ once there is such a value; until then they make the same group.
void FusionGroups::at(NodeId root, std::vector<Match>& matches, std::vector<bool>& skipped) {
    if (!node_facts_[root].elementwise) return;
    const auto add = [&](const Group& group, const std::vector<NodeId>& outputs) {
        matches.push_back(match_of(group, outputs));
        skip_chain_links(group, skipped);
    };
    Group first(root), reading(root), providing(root);
    const bool is_first = grow(first, SharedPolicy::recompute);
    if (is_first) add(first, {root});
    const bool is_reading =
        first.has_shared && grow(reading, SharedPolicy::read) && !(is_first && reading.members == first.members);
    if (is_reading) add(reading, {root});
    if (first.read_again ? !grow(providing, SharedPolicy::provide) : !is_first) return;
    const Group& group = first.read_again ? providing : first;
    std::vector<NodeId> outputs = shared_values(group);
    const bool is_known =
        (is_first && group.members == first.members) || (is_reading && group.members == reading.members);
    if (outputs.empty() && is_known) return;
    outputs.push_back(root);
    add(group, outputs);
}

}  // namespace cairn::fusion
