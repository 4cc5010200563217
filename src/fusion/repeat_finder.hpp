#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

/// Finds nodes that repeat earlier ones, such as those of the layers of a model.
namespace cairn::fusion {

/// Finds the stretches of a graph that repeat an earlier one: the same ops with the same types, attributes and
/// expressions, whose terms have the same structure in the same order, and whose operands are equally far back. A value
/// that a stretch reads from before it is the same in both places, or computed alike from given values; each has one
/// counterpart throughout the stretch.
///
///     %4 = tanh %3
///     %5 = mul %4, %0
///     %6 = tanh %5        begin 6, shift 2: %6 and %7 repeat %4 and %5, where %1 is in place of %0
///     %7 = mul %6, %1
class RepeatFinder {
public:
    /// All must outlive this object. The forms must be those of the graph and nothing else.
    RepeatFinder(const ir::GraphData& graph, const alternatives::EClasses& classes,
                 const normal_form::NormalForms& forms);

    /// Advances to `node`, which must follow the previous one. Returns true if it is in a stretch.
    bool pass(ir::NodeId node);
    /// The first node of the stretch, and the distance from each node of it back to the node it repeats.
    ir::NodeId begin() const noexcept { return begin_; }
    ir::NodeId shift() const noexcept { return shift_; }
    /// True for a node of the stretch, and for an earlier node with a counterpart in it. Nodes computed from such nodes
    /// only are computed alike: the nodes and their operands were compared.
    bool has_counterpart(ir::NodeId earlier) const;
    /// The counterpart of such a node: `shift` nodes later, or the recorded one.
    ir::NodeId counterpart_of(ir::NodeId earlier) const;

private:
    /// For each node or term from before a stretch, its counterpart in the stretch.
    class PairTable {
    public:
        explicit PairTable(std::size_t size) : later_(size), earlier_(size) {}
        /// False if either has another counterpart.
        bool join(std::uint32_t later, std::uint32_t earlier, std::uint32_t sequence);
        std::optional<std::uint32_t> later(std::uint32_t earlier, std::uint32_t sequence) const;

    private:
        struct Partner {
            std::uint32_t sequence = 0, other = 0;
        };
        std::vector<Partner> later_, earlier_;
    };

    std::size_t node_signature(ir::NodeId id) const;
    bool repeats(ir::NodeId id);
    bool same_node(ir::NodeId a, ir::NodeId b) const;
    bool same_terms(ir::NodeId id);
    bool same_form(const normal_form::ScaledTerm& a, const normal_form::ScaledTerm& b);
    bool corresponds(ir::NodeId later, ir::NodeId earlier);
    bool computed_equally(ir::NodeId later, ir::NodeId earlier, int& comparisons);
    bool record_shared(ir::NodeId value);
    normal_form::TermId terms_before(ir::NodeId id) const { return forms_.terms_before(id); }

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    const normal_form::NormalForms& forms_;
    ir::NodeId begin_ = 0, shift_ = 0;  // shift 0: no stretch
    std::uint32_t sequence_ = 0;
    std::size_t shares_left_;
    PairTable nodes_, terms_;
    std::vector<ir::NodeId> open_;                                     // scratch
    std::vector<std::size_t> node_signatures_;                         // by node passed
    std::unordered_map<std::size_t, ir::NodeId> last_with_signature_;  // by the hash of the last few signatures
};

}  // namespace cairn::fusion
