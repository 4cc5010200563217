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

bool is_elementwise(const ir::Node& node) { return ir::is(node, ir::OpClass::elementwise); }

bool is_cheap(Op op) {
    switch (op) {
        case Op::exp:
        case Op::log:
        case Op::sqrt:
        case Op::rsqrt:
        case Op::sin:
        case Op::cos:
        case Op::tanh:
        case Op::erf:
        case Op::div:
        case Op::pow: return false;
        default: return true;
    }
}

bool is_scalar_constant(const ir::Node& node) { return node.op == Op::constant && node.shape.empty(); }

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
    const ir::Node &node = graph_.node(producer), &end = graph_.node(root);
    if (!is_elementwise(node) || node.device != end.device) return false;
    return node.shape == end.shape || is_cheap(node.op);
}

// Takes in producers, newest first, as long as there is room. False where the root alone does not fit.
bool Groups::grow(Group& group, Shared shared) const {
    std::vector<NodeId> members{group.root}, refused;
    const auto rim = [&] {
        std::vector<NodeId> result;
        for (const NodeId member : members)
            for (const NodeId operand : graph_.node(member).operands)
                if (!contains(members, operand) && !contains(result, operand)) result.push_back(operand);
        return result;
    };
    const auto is_large = [&](NodeId id) { return graph_.node(id).shape == graph_.node(group.root).shape; };
    for (;;) {
        NodeId next = 0;
        bool found = false;
        const std::vector<NodeId> before = rim();
        for (const NodeId id : before) {
            if (contains(refused, id) || !joins(id, group.root) || (shared == Shared::read && uses_[id] > 1)) continue;
            if (!found || id > next) next = id;
            found = true;
        }
        if (!found) break;
        members.push_back(next);
        const std::vector<NodeId> reads = rim();
        const auto inputs = static_cast<std::size_t>(
            std::count_if(reads.begin(), reads.end(), [&](NodeId id) { return !is_scalar_constant(graph_.node(id)); }));
        const auto large_in = [&](const std::vector<NodeId>& list) {
            return std::count_if(list.begin(), list.end(), is_large);
        };
        const bool again = uses_[next] > 1 && large_in(reads) > large_in(before);
        const auto late = [&](NodeId input) { return input != next && reads_later(input, next); };
        const bool provided =
            shared == Shared::provide && is_large(next) && std::none_of(before.begin(), before.end(), late);
        if (inputs > most_inputs || members.size() + (reads.size() - inputs) > most_steps || (again && !provided)) {
            members.pop_back();
            refused.push_back(next);
        }
    }
    std::sort(members.begin(), members.end());
    for (const NodeId id : rim()) (is_scalar_constant(graph_.node(id)) ? group.constants : group.inputs).push_back(id);
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

// True when `input` is computed from `output`.
bool Groups::reads_later(NodeId input, NodeId output) const {
    std::vector<NodeId> open{input}, seen;
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        if (at == output) return true;
        if (at < output || contains(seen, at)) continue;
        seen.push_back(at);
        open.insert(open.end(), graph_.node(at).operands.begin(), graph_.node(at).operands.end());
    }
    return false;
}

// Members that others read too and that the group can provide: of the root's shape, and no input is computed from them.
std::vector<NodeId> Groups::shared_values(const Group& group) const {
    std::vector<NodeId> result;
    for (const NodeId id : group.members) {
        if (id == group.root || !(graph_.node(id).shape == graph_.node(group.root).shape)) continue;
        int inside = 0;
        for (const NodeId reader : group.members)
            inside += static_cast<int>(
                std::count(graph_.node(reader).operands.begin(), graph_.node(reader).operands.end(), id));
        const auto late = [&](NodeId input) { return reads_later(input, id); };
        if (uses_[id] > inside && std::none_of(group.inputs.begin(), group.inputs.end(), late)) result.push_back(id);
    }
    return result;
}

void Groups::at(NodeId root, std::vector<Tile>& tiles) const {
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
        known.push_back(std::move(group.members));
    }
}

}  // namespace cairn::inline v0::fuse
