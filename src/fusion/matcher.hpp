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

/// Finds definitions in one graph. A match is guessed, then proved: the regions of a node and of a pattern's skeleton
/// tell which nodes may be the operands and which numbers the free attributes; then the definition is built on just
/// these operands, and the match holds exactly if the normal form of what it builds is the form of the node. So a wrong
/// guess costs time and nothing else.
///
///     %7 = div %4, %6   with softmax axis=(-1) | f32[R,D]   ->   softmax axis=(-1) (%0) -> (%7)
class Matcher {
public:
    /// Graph, classes and patterns must outlive it.
    Matcher(const ir::GraphData& graph, const EClasses& classes, std::span<const Pattern> patterns,
            const std::stop_token& stop = {});
    /// How a tile was found.
    struct FoundMatch {
        const Pattern* pattern = nullptr;
        std::size_t extraction = 0;  ///< its number
        types::SmallVector<ir::NodeId, 4> operands;
    };
    /// What match_at() did: what it found, in the order of its tiles, and all nodes that it looked at, in no order.
    struct MatchTrace {
        std::vector<FoundMatch> found;
        std::vector<ir::NodeId> at;
    };

    /// Appends a tile for each definition of which a pattern has `node` as its main output. Of several such patterns
    /// the first counts: definitions list the ones that leave least to others first. Where values looked at have other
    /// spellings, it looks once in each reading.
    MatchTrace match_at(ir::NodeId node, std::vector<Match>& matches);
    /// Appends tiles that were found in this way with the attributes of `like`, looking for nothing; false and no tile
    /// where one of them does not make `node`.
    bool match_like(ir::NodeId node, std::span<const FoundMatch> found, std::span<const Match> like,
                    std::vector<Match>& matches);

    /// A guess: `pattern` on these operands with these attributes makes `root`.
    struct Attempt {
        const Pattern* pattern;
        ir::NodeId root;
        std::span<const ir::NodeId> operands;
        const FilledInstance& filled;  ///< the definition on such operands
        const Attributes& attributes;
    };
    struct ProofResult {
        std::optional<Match> match;
        OperandMask blame =
            all_operands;  ///< without a tile: operands that are wrong together, whatever the others are
        std::optional<std::size_t>
            unknown;  ///< names the value made of them that the graph has not; one name where only numbers differ
        bool differs_in_numbers = false;  ///< without a tile: other numbers might make the value, or the unknown one
    };
    ProofResult prove(const Attempt& attempt);
    /// The form of what an attempt makes, whether the graph has what is computed on the way or not.
    ScaledTerm form_made(const Attempt& attempt);

    /// At how many nodes definitions were looked for.
    std::size_t looks() const noexcept { return look_; }
    /// From here on the guess is kept that came furthest and failed: which part of the definition the graph has not.
    void record_misses() { records_misses_ = true; }
    const std::string& furthest_miss() const noexcept { return miss_; }

    const ir::GraphData& graph() const noexcept { return graph_; }
    const EClasses& classes() const noexcept { return classes_; }
    /// The region from a node in the reading at hand.
    const ArithmeticRegion& region_from(ir::NodeId node);
    /// The operands of a node in the reading at hand.
    std::span<const ir::NodeId> operands(ir::NodeId node);
    /// True when both are spellings of one value.
    bool same_value(ir::NodeId a, ir::NodeId b) const { return classes_.value_of(a) == classes_.value_of(b); }
    const NormalForms& forms() const noexcept { return forms_; }
    Normalizer& normalizer() noexcept { return forms_.normalizer(); }
    /// The stem of a node's form.
    std::size_t layout_hash_of(ir::NodeId node) { return layout_hashes_.of(forms_[node].core); }
    InstanceCache& instances() noexcept { return instances_; }
    const NodeTypes& types() const noexcept { return types_; }
    CallCache& calls(const Pattern& pattern);
    /// The attributes of the last few matches of a pattern, the newest first: layers are alike.
    const std::vector<Attributes>& known_attributes(const Pattern& pattern) const;
    void remember(const Pattern& pattern, const Attributes& attributes);
    /// What numbers of a float, by their bits, were rounded to (numbers.hpp).
    std::unordered_map<std::uint64_t, double>& rounded(DType dtype) { return rounded_[dtype]; }
    /// op_bit() the op of a node.
    std::uint64_t mark(ir::NodeId node) const { return boundary_ops_[node]; }

private:
    /// What tells at first sight that a pattern is not at a node: there are many of them for each node.
    struct PatternSignature {
        const Pattern* pattern;
        TermKind kind;
        ir::Op op;                   ///< of an op
        std::uint64_t boundary_ops;  ///< that have to be there
    };
    /// What an attempt makes, whatever its root is.
    struct AttemptResult {
        const Pattern* pattern = nullptr;
        const FilledInstance* filled = nullptr;
        types::SmallVector<ir::NodeId, 4> operands;
        ScaledTerm main_output;              ///< its main output, or
        OperandMask blame = 0;               ///< what makes the value
        std::optional<std::size_t> unknown;  ///< that the graph has not, by its name
        bool has_alike = false;              ///< the graph has a value that differs from it in numbers alone
    };

    static std::vector<PatternSignature> signatures_among(std::span<const Pattern> patterns,
                                                          const ir::GraphData& graph);
    void read(std::size_t number);
    void match_in_extraction(ir::NodeId node, std::vector<Match>& matches);
    void look_at(std::span<const ir::NodeId> nodes);
    bool is_known_structure(std::size_t structure) const;
    std::size_t name_of(TermId unknown) const;
    bool is_at(const Pattern& pattern, ir::Op op, TermId core) const;
    AttemptResult make(const Attempt& attempt);
    bool form_over(const Attempt& attempt, const std::function<bool(ir::NodeId)>& go_on);
    const AttemptResult& made_by(const Attempt& attempt);
    std::optional<ProofResult> refusal(const Attempt& attempt);
    std::optional<Match> match_of(const Attempt& attempt);
    std::vector<ir::NodeId> interior(const Match& match);
    bool depends_on(ir::NodeId node, ir::NodeId ancestor);
    bool computes_twice(const Match& match);
    bool makes_product_again(const Attempt& attempt);
    void note(const Attempt& attempt, std::size_t progress, const std::string& reason);

    const ir::GraphData& graph_;
    const EClasses& classes_;
    std::span<const Pattern> patterns_;
    std::vector<PatternSignature> signatures_;  // of the patterns that the graph may have
    std::stop_token stop_;
    NormalForms forms_;
    LayoutInsensitiveHash layout_hashes_;
    FormFeatures features_;
    TermId known_terms_;                 ///< those of the graph; what attempts make comes after
    types::HashIndex known_structures_;  // terms by structure, of each one
    std::deque<RegionCache> regions_;    // of each reading, as far as needed
    std::size_t extraction_ = 0;         // the number of the one at hand
    std::size_t choices_ = 1;            // the most spellings of a value looked at since match_at began
    MatchTrace trace_;                   // since then
    // The last look in which a node was looked at, and in which its region was.
    std::vector<std::uint32_t> seen_, entered_;
    std::uint32_t look_ = 0, entry_ = 0;
    std::vector<std::uint32_t> passed_;  // the last walk down that came by a node
    std::uint32_t walk_ = 0;
    std::vector<ir::NodeId> open_;
    InstanceCache instances_;
    NodeTypes types_;
    std::vector<std::optional<CallCache>> calls_;  // of each pattern
    std::vector<std::vector<Attributes>> known_;
    std::map<DType, std::unordered_map<std::uint64_t, double>> rounded_;
    std::vector<std::uint64_t> boundary_ops_;   // of each node
    std::vector<ScaledTerm> made_;              // by the last attempt made
    const AttemptResult* last_made_ = nullptr;  // where that is kept
    static constexpr std::size_t attempts_kept = 4096;
    std::vector<AttemptResult> kept_;  // each where its hash says, until another comes there: nearby roots try the same
    bool records_misses_ = false;
    std::size_t progress_ = 0;  // of the furthest miss
    std::string miss_;
};

}  // namespace cairn::fusion
