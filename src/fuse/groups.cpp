#include "fuse/groups.hpp"

#include "fuse/numbers.hpp"
#include "ir/op_table.hpp"

#include <algorithm>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;
using ir::Op;

constexpr std::size_t most_steps = 64;
constexpr std::size_t most_inputs = 16;

// Within a group of this many ops, no link of a chain starts a group of its own: there would be as many long groups as
// ops, and it does not matter where a chain is cut.
constexpr std::size_t long_group = 16;
constexpr int chain_steps = 4;

// How far to look for what a value is made of.
constexpr std::size_t most_looked_at = 256;

bool is_elementwise(const ir::Node& node) { return ir::is(node, ir::OpClass::elementwise); }

bool is_cheap(Op op) { return ir::info(op).work == ir::Work::cheap; }

// A number that a body can hold.
bool is_scalar_constant(const ir::Node& node) {
    return node.op == Op::constant && node.shape.empty() && node.wide == nullptr;
}

template <typename T>
bool contains(const std::vector<T>& list, const T& id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

// The members in topological order, the root last, and what they read.
struct Groups::Group {
    NodeId root;
    std::vector<NodeId> members, inputs, constants;
};

Groups::Groups(const ir::GraphData& graph) : graph_(graph), uses_(ir::use_counts(graph)) {}

bool Groups::joins(NodeId producer, NodeId root) const {
    const ir::Node& node = graph_.node(producer);
    return is_elementwise(node) && (node.shape == graph_.node(root).shape || is_cheap(node.op));
}

// What the members of a group read, with what there is to know of all of it together.
struct Groups::Rim {
    const ir::GraphData& graph;
    const Shape& shape;  // of the root
    std::vector<NodeId> reads;
    std::size_t inputs = 0, large = 0;

    bool is_large(NodeId id) const { return graph.node(id).shape == shape; }
    void count(NodeId id, int sign) {
        if (!is_scalar_constant(graph.node(id))) inputs += static_cast<std::size_t>(sign);
        if (is_large(id)) large += static_cast<std::size_t>(sign);
    }
    void add(NodeId id) {
        reads.push_back(id);
        count(id, 1);
    }
    // Puts what `member` reads in its place.
    void replace(NodeId member, const std::vector<NodeId>& members) {
        if (const auto at = std::find(reads.begin(), reads.end(), member); at != reads.end()) {
            reads.erase(at);
            count(member, -1);
        }
        for (const NodeId operand : graph.node(member).operands)
            if (!contains(members, operand) && !contains(reads, operand)) add(operand);
    }
};

// Takes in producers, newest first, as long as there is room. False where the root alone does not fit.
bool Groups::grow(Group& group, Shared shared) const {
    std::vector<NodeId> members{group.root}, refused;
    Rim rim{graph_, graph_.node(group.root).shape, {}};
    rim.replace(group.root, members);
    for (;;) {
        NodeId next = 0;
        bool found = false;
        for (const NodeId id : rim.reads) {
            if (found && id < next) continue;
            if (contains(refused, id) || !joins(id, group.root) || (shared == Shared::read && uses_[id] > 1)) continue;
            next = id;
            found = true;
        }
        if (!found) break;
        const auto late = [&](NodeId input) { return input != next && reads_later(input, next); };
        const auto provided = [&] {
            return shared == Shared::provide && rim.is_large(next) &&
                   std::none_of(rim.reads.begin(), rim.reads.end(), late);
        };
        members.push_back(next);
        Rim wider = rim;
        wider.replace(next, members);
        const bool again = uses_[next] > 1 && wider.large > rim.large;
        if (wider.inputs > most_inputs || members.size() + (wider.reads.size() - wider.inputs) > most_steps ||
            (again && !provided())) {
            members.pop_back();
            refused.push_back(next);
            continue;
        }
        rim.reads = std::move(wider.reads);
        rim.inputs = wider.inputs;
        rim.large = wider.large;
    }
    std::sort(members.begin(), members.end());
    Rim sorted{graph_, rim.shape, {}};
    for (const NodeId member : members) sorted.replace(member, members);
    for (const NodeId id : sorted.reads)
        (is_scalar_constant(graph_.node(id)) ? group.constants : group.inputs).push_back(id);
    std::sort(group.inputs.begin(), group.inputs.end());
    group.members = std::move(members);
    return group.inputs.size() <= most_inputs && !group.inputs.empty();
}

Tile Groups::tile_of(const Group& group, const std::vector<NodeId>& outputs) const {
    Tile tile;
    tile.definition = "elementwise";
    tile.inputs = group.inputs;
    tile.outputs = outputs;
    std::vector<NodeId> values = group.inputs;
    const auto number = [&](NodeId id) {
        return static_cast<int>(std::find(values.begin(), values.end(), id) - values.begin());
    };
    for (const NodeId id : group.constants) {
        const ir::Node& node = graph_.node(id);
        tile.body.push_back({"const", {}, node.dtype, as_written(node.values->front(), node.dtype)});
        values.push_back(id);
    }
    for (const NodeId id : group.members) {
        const ir::Node& node = graph_.node(id);
        Step step{std::string(ir::info(node.op).name), {}, node.dtype, 0};
        for (const NodeId operand : node.operands) step.operands.push_back(number(operand));
        tile.body.push_back(std::move(step));
        values.push_back(id);
    }
    for (const NodeId output : outputs) tile.results.push_back(number(output));
    for (const NodeId id : group.members)
        if (!contains(outputs, id)) tile.interior.push_back(id);
    return tile;
}

// True when `input` is computed from `output`, or from so much that it may be.
bool Groups::reads_later(NodeId input, NodeId output) const {
    std::vector<NodeId> open{input}, seen;
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        if (at == output) return true;
        if (at < output || contains(seen, at)) continue;
        if (seen.size() == most_looked_at) return true;
        seen.push_back(at);
        open.insert(open.end(), graph_.node(at).operands.begin(), graph_.node(at).operands.end());
    }
    return false;
}

// Members that others read too and that the group can provide: of the root's shape, and no input is computed from them.
std::vector<NodeId> Groups::shared_values(const Group& group) const {
    const std::vector<int> inside = uses_inside(group);
    std::vector<NodeId> result;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        const NodeId id = group.members[i];
        if (id == group.root || !(graph_.node(id).shape == graph_.node(group.root).shape)) continue;
        const auto late = [&](NodeId input) { return reads_later(input, id); };
        if (uses_[id] > inside[i] && std::none_of(group.inputs.begin(), group.inputs.end(), late)) result.push_back(id);
    }
    return result;
}

// How often members read each member.
std::vector<int> Groups::uses_inside(const Group& group) const {
    std::vector<int> uses(group.members.size(), 0);
    for (const NodeId reader : group.members)
        for (const NodeId operand : graph_.node(reader).operands) {
            const auto at = std::lower_bound(group.members.begin(), group.members.end(), operand);
            if (at != group.members.end() && *at == operand)
                ++uses[static_cast<std::size_t>(at - group.members.begin())];
        }
    return uses;
}

// True for a value that is read once and computed from one other, and so on for some `steps`.
bool Groups::is_link(NodeId id, int steps) const {
    if (steps == 0) return true;
    const std::vector<NodeId>& operands = graph_.node(id).operands;
    const auto computed = [&](NodeId operand) { return !is_scalar_constant(graph_.node(operand)); };
    return uses_[id] == 1 && std::count_if(operands.begin(), operands.end(), computed) == 1 &&
           is_link(*std::find_if(operands.begin(), operands.end(), computed), steps - 1);
}

void Groups::pass_over(const Group& group, std::vector<bool>& passed) const {
    if (group.members.size() < long_group) return;
    for (const NodeId id : group.members)
        if (id != group.root && is_link(id, chain_steps) && graph_.node(id).shape == graph_.node(group.root).shape)
            passed[id] = true;
}

std::vector<std::vector<Tile>> Groups::all(const std::vector<bool>& wanted, const std::stop_token& stop) const {
    std::vector<std::vector<Tile>> tiles(graph_.nodes().size());
    std::vector<bool> passed(tiles.size(), false);
    for (std::size_t i = tiles.size(); i-- > 0;) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        if (!passed[i] || wanted[i]) at(static_cast<NodeId>(i), tiles[i], passed);
    }
    return tiles;
}

void Groups::at(NodeId root, std::vector<Tile>& tiles, std::vector<bool>& passed) const {
    if (!is_elementwise(graph_.node(root))) return;
    std::vector<std::vector<NodeId>> known;
    for (const Shared shared : {Shared::recompute, Shared::read, Shared::provide}) {
        Group group{root, {}, {}, {}};
        if (!grow(group, shared)) continue;
        std::vector<NodeId> outputs;
        if (shared == Shared::provide) outputs = shared_values(group);
        if (outputs.empty() && contains(known, group.members)) continue;
        outputs.push_back(root);
        tiles.push_back(tile_of(group, outputs));
        pass_over(group, passed);
        known.push_back(std::move(group.members));
    }
}

}  // namespace cairn::inline v0::fuse
