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

/// Which nodes stand where others stood before, as those of the layers of a model do.
namespace cairn::fusion {

/// Finds the stretches of a graph that repeat an earlier one: the same ops of the same types, attributes and spellings,
/// made into terms of the same make in the same order, from operands as far back. What a stretch reads from before it
/// is the same value in both places, or one computed alike from given ones; each stands for one other throughout.
///
///     %4 = tanh %3
///     %5 = mul %4, %0
///     %6 = tanh %5        begin 6, shift 2: %6 and %7 repeat %4 and %5, where %1 is in place of %0
///     %7 = mul %6, %1
class RepeatFinder {
public:
    /// All must outlive it; the forms are those of the graph, and of nothing else so far.
    RepeatFinder(const ir::GraphData& graph, const alternatives::EClasses& classes,
                 const normal_form::NormalForms& forms);

    /// Goes on to a node, which must be the one behind the last. True where it is in a stretch.
    bool pass(ir::NodeId node);
    /// The first node of the stretch, and how far before each of its nodes lies the one that it repeats.
    ir::NodeId begin() const noexcept { return begin_; }
    ir::NodeId shift() const noexcept { return shift_; }
    /// True for a node of the stretch, and for one from before it that stands for one other in it. What is made of such
    /// nodes alone is made alike: they and what they are made of were compared.
    bool knows(ir::NodeId earlier) const;
    /// What stands where such a node stood: as far behind as all of the stretch, or the other.
    ir::NodeId in_place_of(ir::NodeId earlier) const;

private:
    /// For each number of nodes or of terms from before a stretch, which ones stand for each other in it.
    class PairTable {
    public:
        explicit PairTable(std::size_t size) : later_(size), earlier_(size) {}
        /// False where either stands for another one.
        bool join(std::uint32_t later, std::uint32_t earlier, std::uint32_t stretch);
        std::optional<std::uint32_t> later(std::uint32_t earlier, std::uint32_t stretch) const;

    private:
        struct Partner {
            std::uint32_t stretch = 0, other = 0;
        };
        std::vector<Partner> later_, earlier_;
    };

    std::size_t node_signature(ir::NodeId id) const;
    bool repeats(ir::NodeId id);
    bool same_node(ir::NodeId a, ir::NodeId b) const;
    bool same_terms(ir::NodeId id);
    bool same_form(const normal_form::ScaledTerm& a, const normal_form::ScaledTerm& b);
    bool stands_for(ir::NodeId later, ir::NodeId earlier);
    bool computed_alike(ir::NodeId later, ir::NodeId earlier, int& looks);
    bool share(ir::NodeId value);
    normal_form::TermId terms_before(ir::NodeId id) const { return forms_.terms_before(id); }

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    const normal_form::NormalForms& forms_;
    ir::NodeId begin_ = 0, shift_ = 0;  // no stretch: a shift of 0
    std::uint32_t stretch_ = 0;
    std::size_t shares_left_;
    PairTable nodes_, terms_;
    std::vector<ir::NodeId> open_;                                     // scratch
    std::vector<std::size_t> node_signatures_;                         // of each node passed
    std::unordered_map<std::size_t, ir::NodeId> last_with_signature_;  // the last node that so many outlines ended in
};

}  // namespace cairn::fusion
