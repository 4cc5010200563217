#include "fusion/call_cache.hpp"

#include "graph/ir/scalar_cast.hpp"
#include "graph/types/hash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace cairn::fusion {

using ir::NodeId;

namespace {

// For one call, an instance is built for each of this many numbers.
constexpr std::size_t max_built = 4;

// True if the graphs are the same except for the numbers in constants.
bool same_but_numbers(const DefinitionInstance& a, const DefinitionInstance& b) {
    const auto same = [](const ir::Node& x, const ir::Node& y) {
        return x.op == y.op && x.dtype == y.dtype && x.shape == y.shape && x.operands == y.operands &&
               x.attributes == y.attributes && !x.exact_integers && !y.exact_integers;
    };
    return a.inputs == b.inputs && a.outputs == b.outputs &&
           std::ranges::equal(a.graph->nodes(), b.graph->nodes(), same);
}

}  // namespace

NodeTypes::NodeTypes(const ir::GraphData& graph) {
    std::unordered_multimap<std::size_t, NodeId> first_of;
    types_.reserve(graph.nodes().size());
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        const ir::Node& node = graph.node(id);
        auto hash = static_cast<std::size_t>(node.dtype);
        types::hash_combine(hash, node.shape);
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

CallCache::CallCache(const Pattern& pattern, const ir::GraphData& graph, const NodeTypes& types,
                     InstanceCache& instances)
    : pattern_(pattern),
      graph_(graph),
      types_(types),
      instances_(instances),
      sizes_(pattern),
      accepts_(pattern.problem.inputs.size(), std::vector<Answer>(types.count(), Answer::nothing)) {}

bool CallCache::accepts_operand(std::size_t index, NodeId id) {
    Answer& known = accepts_[index][types_.of(id)];
    if (known == Answer::nothing) {
        known = sizes_.bind(index, graph_.node(id).dtype, graph_.node(id).shape) ? Answer::yes : Answer::no;
        sizes_.rollback(0);
    }
    return known == Answer::yes;
}

bool CallCache::has_operands() {
    const auto has = [&](std::size_t index) {
        const std::span<const NodeId> nodes = types_.first();
        return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return accepts_operand(index, id); });
    };
    if (has_operands_ == Answer::nothing) {
        has_operands_ = Answer::yes;
        for (std::size_t index = 0; index < accepts_.size() && has_operands_ == Answer::yes; ++index)
            if (!has(index)) has_operands_ = Answer::no;
    }
    return has_operands_ == Answer::yes;
}

TypedCall& CallCache::of(std::span<const NodeId> operands) {
    std::size_t hash = operands.size();
    for (const NodeId id : operands) types::hash_combine(hash, types_.of(id));
    TypedCall* known = nullptr;
    index_.each(hash, [&](std::uint32_t at) {
        const auto same = [&](NodeId id, std::uint32_t type) { return types_.of(id) == type; };
        if (std::equal(operands.begin(), operands.end(), calls_[at].operands.begin(), calls_[at].operands.end(), same))
            known = &calls_[at];
    });
    if (known != nullptr) return *known;
    index_.add(hash, static_cast<std::uint32_t>(calls_.size()));
    TypedCall& call = calls_.emplace_back();
    for (const NodeId id : operands) {
        call.operands.push_back(types_.of(id));
        call.types.push_back({graph_.node(id).dtype, graph_.node(id).shape, {}, {}, false});
    }
    call.fits = sizes_.complete(call.types, graph_.symbols());
    return call;
}

bool CallCache::may_produce(const TypedCall& call, NodeId root) const {
    const auto known =
        std::find_if(call.made.begin(), call.made.end(), [](const auto& entry) { return entry.second != nullptr; });
    return known == call.made.end() || known->second->instance->makes(pattern_.main_output, graph_.node(root));
}

CallCache::Numbers CallCache::numbers_in(const Attributes& attributes) const {
    Numbers numbers;
    for (const Hole& hole : pattern_.holes) numbers.push_back(hole.number_in(attributes));
    return numbers;
}

const DefinitionInstance* CallCache::build(const TypedCall& call, const Attributes& attributes) {
    const std::optional<DefinitionInstance>& made = instances_.of(*pattern_.definition, call.types, attributes);
    return made ? &*made : nullptr;
}

/// The instance for the numbers, and whether the entry is new.
std::pair<const FilledInstance**, bool> CallCache::instance_entry(TypedCall& call, const Numbers& numbers) {
    const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
    std::size_t hash = numbers.size();
    for (const double number : numbers) types::hash_combine(hash, bits(number));
    const FilledInstance** known = nullptr;
    call.by_numbers.each(hash, [&](std::uint32_t at) {
        if (std::ranges::equal(call.made[at].first, numbers, {}, bits, bits)) known = &call.made[at].second;
    });
    if (known != nullptr) return {known, false};
    call.by_numbers.add(hash, static_cast<std::uint32_t>(call.made.size()));
    return {&call.made.emplace_back(numbers, nullptr).second, true};
}

// Null if the instance must be built.
const FilledInstance* CallCache::shared(TypedCall& call, const Numbers& numbers) {
    const auto is_plain = [](double number) { return number > 0 && std::isfinite(number); };
    if (call.made.size() <= max_built || !std::all_of(numbers.begin(), numbers.end(), is_plain)) return nullptr;
    const DefinitionInstance* with_sentinels = build(call, pattern_.problem.attributes);
    if (!call.constants_for_holes)
        call.constants_for_holes =
            with_sentinels ? constants_for_holes_of(call, *with_sentinels) : std::vector<ConstantForHole>();
    if (call.constants_for_holes->empty()) return nullptr;
    FilledInstance filled{with_sentinels};
    for (const ConstantForHole& holder : *call.constants_for_holes) {
        const DType dtype = with_sentinels->graph->node(holder.constant).dtype;
        const double value = ir::round_to(dtype, holder.factor * numbers[holder.hole]);
        if (!std::isfinite(value)) return nullptr;
        filled.numbers.push_back({holder.constant, value});
    }
    return &filled_.emplace_back(std::move(filled));
}

// Builds the call with two numbers in each hole: graphs that differ in such constants only show where the numbers go.
std::vector<ConstantForHole> CallCache::constants_for_holes_of(const TypedCall& call,
                                                               const DefinitionInstance& with_sentinels) {
    Attributes attributes = pattern_.problem.attributes;
    const auto other = [](const Hole& hole) { return 64 * hole.sentinel + (hole.is_whole ? 1 : 0.25); };
    for (const Hole& hole : pattern_.holes) hole.put(other(hole), attributes);
    const DefinitionInstance* with_others = build(call, attributes);
    std::vector<ConstantForHole> constants_for_holes;
    if (with_others == nullptr || !same_but_numbers(with_sentinels, *with_others)) return {};
    for (NodeId id = 0; id < with_sentinels.graph->nodes().size(); ++id) {
        const ir::Node &node = with_sentinels.graph->node(id), &variant = with_others->graph->node(id);
        if (node.op != ir::Op::constant || *node.values == *variant.values) continue;
        const auto holds = [&](const Hole& hole) {
            const double factor = node.values->front() / hole.sentinel;
            return (is_float(node.dtype) || factor == 1) &&
                   ir::round_to(node.dtype, factor * other(hole)) == variant.values->front();
        };
        const auto hole = std::find_if(pattern_.holes.begin(), pattern_.holes.end(), holds);
        if (!node.shape.empty() || hole == pattern_.holes.end()) return {};
        constants_for_holes.push_back(
            {id, static_cast<std::size_t>(hole - pattern_.holes.begin()), node.values->front() / hole->sentinel});
    }
    return constants_for_holes;
}

// If the sentinels, which suit the pattern's own operands, are rejected too, these operands are at fault.
const FilledInstance* CallCache::filled(TypedCall& call, const Attributes& attributes) {
    if (call.is_rejected) return nullptr;
    const Numbers numbers = numbers_in(attributes);
    const auto [made, is_new] = instance_entry(call, numbers);
    if (!is_new) return *made;
    if (const FilledInstance* filled = shared(call, numbers)) return *made = filled;
    const DefinitionInstance* built = build(call, attributes);
    call.is_rejected = built == nullptr && build(call, pattern_.problem.attributes) == nullptr;
    if (built != nullptr) *made = &filled_.emplace_back(FilledInstance{built});
    return *made;
}

const FilledInstance* CallCache::exact_instance(TypedCall& call, const Attributes& attributes) {
    const FilledInstance*& made = *instance_entry(call, numbers_in(attributes)).first;
    if (made != nullptr && made->numbers.empty()) return made;
    const DefinitionInstance* built = build(call, attributes);
    return made = built == nullptr ? nullptr : &filled_.emplace_back(FilledInstance{built});
}

}  // namespace cairn::fusion
