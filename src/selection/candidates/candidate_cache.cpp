#include "selection/candidates/candidate_cache.hpp"

#include "graph/types/hash.hpp"

#include <algorithm>

namespace cairn::selection {

using ir::NodeId;

namespace {

std::size_t hash_of_match(const ProblemRef& computation, std::span<const std::uint32_t> signatures, bool cheapest) {
    std::size_t hash = computation.hash();
    types::hash_combine(hash, cheapest ? 1 : 0);
    for (const std::uint32_t signature : signatures) types::hash_combine(hash, signature);
    return hash;
}

}  // namespace

ProblemRef CandidateCache::computation_of(const fusion::Match& match) {
    return {match.definition, &match.attributes, &match.body, match.results, {}, {}};
}

/// The last element is the number of inputs, which separates their signatures from those of outputs.
CandidateCache::List CandidateCache::signatures_of(const fusion::Match& match) {
    List signatures;
    for (const NodeId input : match.inputs) signatures.push_back(signatures_.of_value(input));
    for (const NodeId output : match.outputs) signatures.push_back(signatures_.of_node(output));
    signatures.push_back(static_cast<std::uint32_t>(match.inputs.size()));
    return signatures;
}

const CandidateCache::CachedCandidates* CandidateCache::find(const fusion::Match& match, bool cheapest) {
    const ProblemRef computation = computation_of(match);
    const List signatures = signatures_of(match);
    const CachedCandidates* found = nullptr;
    index_.each(hash_of_match(computation, signatures, cheapest), [&](std::uint32_t at) {
        const CacheEntry& entry = entries_[at];
        if (entry.signatures == signatures && entry.cheapest == cheapest && entry.computation.ref() == computation)
            found = &entry.known;
    });
    return found;
}

void CandidateCache::add(const fusion::Match& match, bool cheapest, const std::vector<Candidate>& found,
                         const Queries& asked) {
    CachedCandidates known{found, {}, asked};
    for (const Candidate& candidate : found) {
        const ir::NodeId* input = match.inputs.end() - candidate.operands.size();
        for (const KernelOperand& operand : candidate.operands) {
            const std::optional<OperandReading> reading = reading_of(operand, *input++);
            if (!reading) return;
            known.readings.push_back(*reading);
        }
    }
    const ProblemRef computation = computation_of(match);
    List signatures = signatures_of(match);
    index_.add(hash_of_match(computation, signatures, cheapest), static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back(computation, std::move(signatures), cheapest, std::move(known), pool_);
}

std::optional<CandidateCache::OperandReading> CandidateCache::reading_of(const KernelOperand& operand,
                                                                         NodeId input) const {
    using As = OperandReading::As;
    const std::size_t expressions = classes_.expressions(input).size(), forms = classes_.rounded(input).size();
    for (const auto& [as, count] :
         {std::pair(As::is, expressions), std::pair(As::widened, expressions), std::pair(As::rounded, forms)})
        for (std::uint32_t number = 0; number < count; ++number)
            if (node_of(input, {number, as}) == operand.node) return OperandReading{number, as};
    return std::nullopt;
}

NodeId CandidateCache::node_of(NodeId input, const OperandReading& reading) const {
    if (reading.as == OperandReading::As::rounded) return classes_.rounded(input)[reading.number];
    const NodeId expression = classes_.expressions(input)[reading.number];
    const auto& operands = graph_.node(expression).operands;
    return reading.as == OperandReading::As::is ? expression : operands.empty() ? input : operands[0];
}

void CandidateCache::forget() {
    entries_.clear();
    index_ = {};
}

}  // namespace cairn::selection
