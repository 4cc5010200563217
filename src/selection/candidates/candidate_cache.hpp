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

/// What was found for a tile holds for those that differ from it in the numbers of nodes only.
namespace cairn::selection {

class KernelQuery;

/// Tiles that kernels were asked about. Those of equal layers are found again.
class CandidateCache {
public:
    using Questions = types::SmallVector<KernelQuery*, 4>;
    /// As what an input of a tile is read: one of its spellings, what that one widens, or the value rounded.
    struct OperandReading {
        enum class As : std::uint8_t { is, widened, rounded };
        std::uint32_t expression = 0;
        As as = As::is;
    };
    /// What was found for a tile, and what was asked. Sources are the last inputs of the tile, in their order.
    struct CachedCandidates {
        std::vector<Candidate> found;
        std::vector<OperandReading> readings;  ///< of the sources of each of these
        Questions asked;
    };

    /// All must outlive it.
    CandidateCache(const ir::GraphData& graph, const alternatives::EClasses& classes, ValueSignatures& signatures)
        : graph_(graph), classes_(classes), signatures_(signatures) {}

    /// What was found for a tile that looks like this one, where as many candidates were wanted; null where none was.
    const CachedCandidates* find(const fusion::Match& match, bool cheapest);
    /// Notes what was found for a tile.
    void add(const fusion::Match& match, bool cheapest, const std::vector<Candidate>& found, const Questions& asked);
    /// The node that an input is read as; itself where it is not there.
    ir::NodeId node_of(ir::NodeId input, const OperandReading& reading) const;
    /// How many differ.
    std::size_t size() const noexcept { return entries_.size(); }
    /// From here on something else may be found.
    void forget();

private:
    using List = types::SmallVector<std::uint32_t, 8>;
    struct CacheEntry {
        CacheEntry(const ProblemRef& match, List seen_as, bool only_cheapest, CachedCandidates what,
                   std::pmr::memory_resource& pool)
            : work(match, pool), signatures(std::move(seen_as)), cheapest(only_cheapest), known(std::move(what)) {}
        InternedProblem work;  // what the tile computes, of whatever
        List signatures;       // of its inputs and its outputs
        bool cheapest;
        CachedCandidates known;
    };

    static ProblemRef work_of(const fusion::Match& match);
    List signatures_of(const fusion::Match& match);
    std::optional<OperandReading> reading_of(const KernelOperand& operand, ir::NodeId input) const;

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    ValueSignatures& signatures_;
    std::pmr::monotonic_buffer_resource pool_;
    std::deque<CacheEntry> entries_;
    types::HashIndex index_;  // of these
};

}  // namespace cairn::selection
