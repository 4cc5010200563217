#include "fuse/calls.hpp"

#include "types/hash.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace cairn::inline v0::fuse {

using ir::NodeId;

NodeTypes::NodeTypes(const ir::GraphData& graph) {
    std::unordered_multimap<std::size_t, NodeId> first_of;
    types_.reserve(graph.nodes().size());
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        const ir::Node& node = graph.node(id);
        auto hash = static_cast<std::size_t>(node.dtype);
        types::mix(hash, node.shape);
        const auto [first, last] = first_of.equal_range(hash);
        const auto same = std::find_if(first, last, [&](const auto& entry) {
            const ir::Node& other = graph.node(entry.second);
            return other.dtype == node.dtype && other.shape == node.shape;
        });
        types_.push_back(same != last ? types_[same->second] : static_cast<std::uint32_t>(first_.size()));
        if (same != last) continue;
        first_of.emplace(hash, id);
        first_.push_back(id);
    }
}

Calls::Calls(const Pattern& pattern, const ir::GraphData& graph, const NodeTypes& types, Instances& instances)
    : pattern_(pattern),
      graph_(graph),
      types_(types),
      instances_(instances),
      sizes_(pattern),
      may_be_(pattern.problem.inputs.size(), std::vector<Known>(types.count(), Known::nothing)) {}

bool Calls::may_be(std::size_t index, NodeId id) {
    Known& known = may_be_[index][types_.of(id)];
    if (known == Known::nothing) {
        known = sizes_.bind(index, graph_.node(id).dtype, graph_.node(id).shape) ? Known::yes : Known::no;
        sizes_.forget(0);
    }
    return known == Known::yes;
}

bool Calls::has_operands() {
    const auto has = [&](std::size_t index) {
        const std::span<const NodeId> nodes = types_.first();
        return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return may_be(index, id); });
    };
    if (has_operands_ == Known::nothing) {
        has_operands_ = Known::yes;
        for (std::size_t index = 0; index < may_be_.size() && has_operands_ == Known::yes; ++index)
            if (!has(index)) has_operands_ = Known::no;
    }
    return has_operands_ == Known::yes;
}

Call& Calls::of(std::span<const NodeId> operands) {
    std::size_t hash = operands.size();
    for (const NodeId id : operands) types::mix(hash, types_.of(id));
    Call* known = nullptr;
    index_.each(hash, [&](std::uint32_t at) {
        const auto same = [&](NodeId id, std::uint32_t type) { return types_.of(id) == type; };
        if (std::equal(operands.begin(), operands.end(), calls_[at].operands.begin(), calls_[at].operands.end(), same))
            known = &calls_[at];
    });
    if (known != nullptr) return *known;
    index_.add(hash, static_cast<std::uint32_t>(calls_.size()));
    Call& call = calls_.emplace_back();
    for (const NodeId id : operands) {
        call.operands.push_back(types_.of(id));
        call.types.push_back({graph_.node(id).dtype, graph_.node(id).shape, {}, {}, false});
    }
    call.fits = sizes_.complete(call.types, graph_.symbols());
    return call;
}

bool Calls::may_make(const Call& call, NodeId root) const {
    const auto known = std::find_if(call.instances.begin(), call.instances.end(),
                                    [](const auto& entry) { return entry.second != nullptr; });
    return known == call.instances.end() || known->second->makes(pattern_.main, graph_.node(root));
}

// Where the numbers that suit the pattern's own operands are refused too, these operands are at fault.
const Instance* Calls::instance(Call& call, const Attributes& attributes) {
    if (call.is_refused) return nullptr;
    types::ShortList<double, 4> numbers;
    for (const Hole& hole : pattern_.holes) numbers.push_back(std::get<double>(attributes[hole.attribute].value));
    const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
    std::size_t hash = numbers.size();
    for (const double number : numbers) types::mix(hash, bits(number));
    std::optional<std::uint32_t> known;
    call.by_numbers.each(hash, [&](std::uint32_t at) {
        if (std::ranges::equal(call.instances[at].first, numbers, {}, bits, bits)) known = at;
    });
    if (known) return call.instances[*known].second;
    const auto of = [&](const Attributes& given) {
        const std::optional<Instance>& made = instances_.of(*pattern_.definition, call.types, given);
        return made ? &*made : nullptr;
    };
    const Instance* made = of(attributes);
    call.is_refused = made == nullptr && of(pattern_.problem.attributes) == nullptr;
    call.by_numbers.add(hash, static_cast<std::uint32_t>(call.instances.size()));
    call.instances.emplace_back(std::move(numbers), made);
    return made;
}

}  // namespace cairn::inline v0::fuse
