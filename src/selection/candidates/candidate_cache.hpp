#pragma once

#include "fusion/match.hpp"
#include "graph/types/hash_index.hpp"
#include "graph/types/small_vector.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/candidates/candidate.hpp"
#include "selection/candidates/value_signature.hpp"

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

/// Cache of candidates: those of a match are valid for every match that differs only in node ids.
namespace cairn::selection {

class KernelQuery;

/// Caches the candidates of matches, so that equal layers are searched once.
class CandidateCache {
public:
    using Queries = types::SmallVector<KernelQuery*, 4>;
    /// How an input of a match is read: as one of its expressions, as the operand that one widens, or as one of its
    /// rounded forms.
    struct OperandReading {
        enum class As : std::uint8_t { is, widened, rounded };
        std::uint32_t number = 0;  ///< of the expression or the rounded form
        As as = As::is;
    };
    /// The candidates of a match, and the queries made for them. Their operands are the last inputs of the match, in
    /// order.
    struct CachedCandidates {
        std::vector<Candidate> found;
        std::vector<OperandReading> readings;  ///< one for each operand of each candidate
        Queries asked;
    };

    /// All arguments must outlive it.
    CandidateCache(const ir::GraphData& graph, const alternatives::EClasses& classes, ValueSignatures& signatures)
        : graph_(graph), classes_(classes), signatures_(signatures) {}

    /// The candidates cached for a match with equal signatures and the same `cheapest`; null if there are none.
    const CachedCandidates* find(const fusion::Match& match, bool cheapest);
    /// Caches the candidates of a match; does nothing if an operand is not a reading of its input.
    void add(const fusion::Match& match, bool cheapest, const std::vector<Candidate>& found, const Queries& asked);
    /// The node that an input is read as; `input` itself if there is no such node.
    ir::NodeId node_of(ir::NodeId input, const OperandReading& reading) const;
    /// Number of entries.
    std::size_t size() const noexcept { return entries_.size(); }
    /// Clears the cache; needed when costs or devices change.
    void forget();

private:
    using List = types::SmallVector<std::uint32_t, 8>;
    struct CacheEntry {
        CacheEntry(const ProblemRef& match, List signatures_of_operands, bool only_cheapest, CachedCandidates what,
                   std::pmr::memory_resource& pool)
            : computation(match, pool),
              signatures(std::move(signatures_of_operands)),
              cheapest(only_cheapest),
              known(std::move(what)) {}
        InternedProblem computation;  // the computation of the match, without its operands
        List signatures;              // of its inputs and its outputs
        bool cheapest;
        CachedCandidates known;
    };

    static ProblemRef computation_of(const fusion::Match& match);
    List signatures_of(const fusion::Match& match);
    std::optional<OperandReading> reading_of(const KernelOperand& operand, ir::NodeId input) const;

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    ValueSignatures& signatures_;
    std::pmr::monotonic_buffer_resource pool_;
    std::deque<CacheEntry> entries_;
    types::HashIndex index_;  // of `entries_`
};

}  // namespace cairn::selection
