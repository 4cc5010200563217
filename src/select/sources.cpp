#include "select/candidates.hpp"

#include "ir/op_table.hpp"
#include "ir/store_states.hpp"

#include <algorithm>
#include <utility>

// How the operands of a tile may be seen.
namespace cairn::inline v0::select {

using ir::NodeId;

/// The spellings under which a value lies in different memory: its own, and that of others that it is a view of.
std::vector<NodeId> Candidates::seen_as(NodeId value) const {
    std::vector<NodeId> found;
    bool is_own = false;
    for (const NodeId spelling : classes_.spellings(value))
        if (views_[spelling].base != spelling || !std::exchange(is_own, true)) found.push_back(spelling);
    return found;
}

Source Candidates::source_of(NodeId node, Form form, Device device) const {
    const bool is_seen = form == Form::seen;
    const NodeId lies = is_seen ? views_[node].base : node;
    const ir::Node& memory = graph_->node(lies);
    const bool stays = ir::is_given(memory) || bound_[lies] || (is_seen && is_state_version(memory));
    return {
        node, form, {}, device, !stays && !devices_.may_travel.empty() && devices_.may_travel[classes_.value_of(lies)]};
}

/// The operands of a tile as seen, each in each of its spellings: the first of all, then the others. Where that is too
/// many ways, all operands in their next spelling together.
std::vector<Sources> Candidates::seen_ways(const fuse::Tile& tile, Device device) const {
    constexpr std::size_t most_ways = 16;
    std::vector<std::vector<NodeId>> choices;
    std::size_t count = 1, most = 1;
    for (const NodeId input : tile.inputs) {
        choices.push_back(seen_as(input));
        count = std::min(count * choices.back().size(), most_ways + 1);
        most = std::max(most, choices.back().size());
    }
    const bool together = count > most_ways;
    std::vector<Sources> ways;
    for (std::size_t way = 0; way < (together ? most : count); ++way) {
        std::size_t rest = way;
        Sources& sources = ways.emplace_back();
        for (const std::vector<NodeId>& choice : choices) {
            const std::size_t at = together ? std::min(way, choice.size() - 1) : rest % choice.size();
            rest /= choice.size();
            sources.push_back(source_of(choice[at], Form::seen, device));
        }
    }
    return ways;
}

/// The same with a dense copy of each view; nothing where none is a view.
std::optional<Sources> Candidates::with_copies(Sources sources) const {
    bool any = false;
    for (Source& source : sources) {
        if (!is_view(source.node)) continue;
        source = source_of(classes_.value_of(source.node), Form::dense, source.device);
        any = true;
    }
    return any ? std::optional(std::move(sources)) : std::nullopt;
}

/// The operands that a kernel widens itself as they are stored, and where asked for others rounded; nothing where there
/// are none. They must lie on the device.
std::optional<Sources> Candidates::as_stored(const Kernel& kernel, const fuse::Tile& tile, const Sources& seen,
                                             bool rounded) const {
    Sources stored = seen;
    bool any = false;
    for (const int input : kernel.widens) {
        const auto i = static_cast<std::size_t>(input);
        if (i >= tile.inputs.size()) continue;
        if (const auto narrow = classes_.rounded(tile.inputs[i]); rounded && narrow) {
            stored[i] = source_of(*narrow, Form::seen, seen[i].device);
            any = true;
        }
        for (const NodeId spelling : classes_.spellings(tile.inputs[i])) {
            const ir::Node& node = graph_->node(spelling);
            if (node.op != ir::Op::cast || !is_widening(graph_->node(node.operands[0]).dtype, node.dtype)) continue;
            stored[i] = source_of(node.operands[0], Form::seen, seen[i].device);
            any = true;
            break;
        }
    }
    const bool is_seen = std::all_of(stored.begin(), stored.end(),
                                     [&](const Source& source) { return can_be_seen(source.node, source.device); });
    return any && is_seen ? std::optional(std::move(stored)) : std::nullopt;
}

double Candidates::rounding_in(const fuse::Tile& tile) const {
    double sum = 0;
    if (classes_.all_rounded().empty()) return sum;
    const auto add = [&](NodeId id) {
        const ir::Node& node = graph_->node(id);
        if (node.op == ir::Op::cast && classes_.rounded(node.operands[0]) == id) sum += ir::rounding_of(node.dtype);
    };
    for (const NodeId id : tile.computed()) add(id);
    for (const NodeId id : tile.interior) add(id);
    return sum;
}

}  // namespace cairn::inline v0::select
