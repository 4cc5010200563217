#pragma once

#include "fusion/call_cache.hpp"
#include "fusion/definition_instance.hpp"
#include "fusion/form_features.hpp"
#include "fusion/match.hpp"
#include "fusion/pattern.hpp"
#include "fusion/regions.hpp"
#include "graph/types/hash_index.hpp"
#include "graph/types/small_vector.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace cairn::fusion {

/// Finds matches of definitions in one graph. A match is guessed, then proved. The regions of a node and of a pattern's
/// skeleton suggest operands and the numbers of free attributes. The definition is then built on these operands, and
/// the match holds exactly if the normal form of the result is that of the node. So a wrong guess costs only time.
///
///     %7 = div %4, %6   with softmax axis=(-1) | f32[R,D]   ->   softmax axis=(-1) (%0) -> (%7)
class Matcher {
public:
    /// Graph, classes and patterns must outlive it.
    Matcher(const ir::GraphData& graph, const EClasses& classes, std::span<const Pattern> patterns,
            const std::stop_token& stop = {});
    /// How a match was found.
    struct FoundMatch {
        const Pattern* pattern = nullptr;
        std::size_t extraction = 0;  ///< index of the extraction
        types::SmallVector<ir::NodeId, 4> operands;
    };
    /// A trace of match_at(): the matches found, in the order they were appended, and all nodes inspected, in no order.
    struct MatchTrace {
        std::vector<FoundMatch> found;
        std::vector<ir::NodeId> at;
    };

    /// Appends a match for each definition of which a pattern has `node` as its main output. Of several such patterns
    /// the first counts: definitions list first those that leave least to other kernels. If inspected values have
    /// several expressions, it searches once in each extraction.
    MatchTrace match_at(ir::NodeId node, std::vector<Match>& matches);
    /// Appends matches found as in `found`, with the attributes of `like`, without a search. Returns false and appends
    /// nothing if one of them does not compute `node`.
    bool match_like(ir::NodeId node, std::span<const FoundMatch> found, std::span<const Match> like,
                    std::vector<Match>& matches);

    /// A guess: `pattern` on these operands with these attributes computes `root`.
    struct Attempt {
        const Pattern* pattern;
        ir::NodeId root;
        std::span<const ir::NodeId> operands;
        const FilledInstance& filled;  ///< the definition on operands of these types
        const Attributes& attributes;
    };
    struct ProofResult {
        std::optional<Match> match;
        OperandMask blame =
            all_operands;  ///< without a match: operands that are wrong together, whatever the others are
        std::optional<std::size_t>
            unknown;  ///< id of the value that the graph lacks; may be shared by values that differ in numbers only
        bool differs_in_numbers = false;  ///< without a match: other numbers might give the value, or the unknown one
    };
    ProofResult prove(const Attempt& attempt);
    /// The form that an attempt computes, even if the graph lacks intermediate values.
    ScaledTerm form_made(const Attempt& attempt);

    /// The number of nodes at which definitions were searched.
    std::size_t searches() const noexcept { return search_; }
    /// From here on keeps the failed guess that came furthest: which part of the definition the graph lacks.
    void record_misses() { records_misses_ = true; }
    const std::string& furthest_miss() const noexcept { return miss_; }

    const ir::GraphData& graph() const noexcept { return graph_; }
    const EClasses& classes() const noexcept { return classes_; }
    /// The region from a node in the current extraction.
    const ArithmeticRegion& region_from(ir::NodeId node);
    /// The operands of a node in the current extraction.
    std::span<const ir::NodeId> operands(ir::NodeId node);
    /// True if both are expressions of one value.
    bool same_value(ir::NodeId a, ir::NodeId b) const { return classes_.value_of(a) == classes_.value_of(b); }
    const NormalForms& forms() const noexcept { return forms_; }
    Normalizer& normalizer() noexcept { return forms_.normalizer(); }
    /// The layout-insensitive hash of a node's form.
    std::size_t layout_hash_of(ir::NodeId node) { return layout_hashes_.of(forms_[node].core); }
    InstanceCache& instances() noexcept { return instances_; }
    const NodeTypes& types() const noexcept { return types_; }
    CallCache& calls(const Pattern& pattern);
    /// The attributes of the last few matches of a pattern, newest first: the layers of a model share them.
    const std::vector<Attributes>& known_attributes(const Pattern& pattern) const;
    void remember(const Pattern& pattern, const Attributes& attributes);
    /// Cache of shortest_within_rounding() for numbers of a float dtype, by their bits (candidate_numbers.hpp).
    std::unordered_map<std::uint64_t, double>& rounded(DType dtype) { return rounded_[dtype]; }
    /// op_bit() of a node's op.
    std::uint64_t op_bit_of(ir::NodeId node) const { return op_bits_[node]; }

private:
    /// A cheap test that rules out most patterns at a node: there are many patterns for each node.
    struct PatternSignature {
        const Pattern* pattern;
        TermKind kind;
        ir::Op op;                   ///< of an op
        std::uint64_t boundary_ops;  ///< ops that must be on the boundary of the node's region
        bool is_in_16_bits;          ///< only values of 16-bit floats can be its main output
    };
    /// What an attempt computes, independent of its root.
    struct AttemptResult {
        const Pattern* pattern = nullptr;
        const FilledInstance* filled = nullptr;
        types::SmallVector<ir::NodeId, 4> operands;
        ScaledTerm main_output;              ///< form of the main output, unless `unknown` is set
        OperandMask blame = 0;               ///< the operands from which the unknown value is computed
        std::optional<std::size_t> unknown;  ///< identifies the first value that the graph lacks
        bool has_alike = false;              ///< the graph has a value that differs from it in numbers only
    };

    static std::vector<PatternSignature> signatures_among(std::span<const Pattern> patterns,
                                                          const ir::GraphData& graph);
    void select_extraction(std::size_t number);
    void match_in_extraction(ir::NodeId node, std::vector<Match>& matches);
    void record_inspected(std::span<const ir::NodeId> nodes);
    bool is_known_structure(std::size_t structure) const;
    std::size_t name_of(TermId unknown) const;
    bool is_at(const Pattern& pattern, ir::Op op, TermId core) const;
    AttemptResult make(const Attempt& attempt);
    bool form_over(const Attempt& attempt, const std::function<bool(ir::NodeId)>& go_on);
    const AttemptResult& result_of(const Attempt& attempt);
    std::optional<ProofResult> quick_rejection(const Attempt& attempt);
    std::optional<Match> match_of(const Attempt& attempt);
    std::vector<ir::NodeId> interior(const Match& match);
    bool depends_on(ir::NodeId node, ir::NodeId ancestor);
    bool computes_twice(const Match& match);
    bool makes_product_again(const Attempt& attempt);
    void note(const Attempt& attempt, std::size_t progress, const std::string& reason);

    const ir::GraphData& graph_;
    const EClasses& classes_;
    std::span<const Pattern> patterns_;
    std::vector<PatternSignature> signatures_;  // of the patterns that may match in the graph
    std::stop_token stop_;
    NormalForms forms_;
    LayoutInsensitiveHash layout_hashes_;
    FormFeatures features_;
    TermId known_terms_;                 ///< number of terms of the graph; terms of attempts follow
    types::HashIndex known_structures_;  // one term for each structure
    std::deque<RegionCache> regions_;    // by extraction, built on demand
    std::size_t extraction_ = 0;         // index of the current extraction
    std::size_t choices_ = 1;            // most expressions of a value inspected since match_at() began
    MatchTrace trace_;                   // since match_at() began
    // For each node, the last look in which it was inspected, and the last extraction in which its region was.
    std::vector<std::uint32_t> seen_, entered_;
    std::uint32_t search_ = 0, entry_ = 0;
    std::vector<std::uint32_t> passed_;  // for each node, the last walk that visited it
    std::uint32_t walk_ = 0;
    std::vector<ir::NodeId> open_;
    InstanceCache instances_;
    NodeTypes types_;
    std::vector<std::optional<CallCache>> calls_;  // by pattern
    std::vector<std::vector<Attributes>> known_;
    std::map<DType, std::unordered_map<std::uint64_t, double>> rounded_;
    std::vector<std::uint64_t> op_bits_;        // by node
    std::vector<ScaledTerm> forms_made_;        // by the last attempt
    const AttemptResult* last_made_ = nullptr;  // null if it is not cached
    static constexpr std::size_t attempts_kept = 4096;
    std::vector<AttemptResult> kept_;  // direct-mapped cache, indexed by hash: nearby roots make the same attempts
    bool records_misses_ = false;
    std::size_t miss_progress_ = 0;  // of the furthest miss
    std::string miss_;
};

}  // namespace cairn::fusion
