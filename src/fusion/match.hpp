#pragma once

#include "cairn/kernel.hpp"
#include "fusion/body.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/types/small_vector.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

/// Which regions of a graph one kernel could compute whole. Only proposals: the graph is not changed, and whether a
/// tile is used is decided in select by time.
namespace cairn::fusion {

using normal_form::Laws;

/// Those of a tile: mostly few.
using Nodes = types::SmallVector<ir::NodeId, 4>;

/// A match of a definition. It provides its outputs and nothing else: an interior value that is read elsewhere is made
/// again by another tile, or by one that has it among its outputs.
struct Match {
    std::string definition;  ///< a Definition's name, `elementwise`, `fused`, or the atomic op of a single node
    Attributes attributes;   ///< as a Problem of that definition lists them
    Body body;               ///< of `elementwise` and `fused`
    types::SmallVector<int, 4> results;  ///< of these: the value number of each output
    Nodes inputs;                        ///< values read, in the definition's operand order: the first spelling of each
    Nodes outputs;                       ///< nodes provided: any spelling of a value provides it
    Nodes interior;                      ///< nodes computed inside and not provided, for explain() and dumps
    /// Where outputs are what is computed in another place (moved_results.hpp), of each: what is computed, then the
    /// transposes and reshapes on the way to the output, in their order. It is written where they put it. Nothing of an
    /// output that is not moved, and of no output where none is.
    std::vector<Nodes> moved;

    bool is_moved(std::size_t output) const { return !moved.empty() && !moved[output].empty(); }
    /// What the definition gives: the outputs, or what is moved to be an output.
    Nodes computed() const {
        Nodes made = outputs;
        for (std::size_t i = 0; i < moved.size(); ++i)
            if (is_moved(i)) made[i] = moved[i][0];
        return made;
    }
};

struct Options {
    bool composites = true;     ///< match definitions
    bool elementwise = true;    ///< group connected elementwise ops, behind products too
    std::stop_token stop = {};  ///< throws Cancelled
    bool moved_results = true;  ///< let results be written where they are moved to
};

/// Definitions made ready to be looked for; read-only and fit for any number of threads and graphs. The definitions
/// must outlive them.
struct Pattern;
struct PatternSet;
using Patterns = std::shared_ptr<const PatternSet>;
/// The most axes that a value has, or four: patterns for more are of no use.
std::size_t axes_in(const ir::GraphData& graph);

/// Properties of graphs that decide which patterns are worth building.
struct GraphTraits {
    std::size_t axes;  ///< the most that a value has
    /// Some cast rounds a wider float to f16 or bf16, as the composites do that compute 16-bit floats in f32.
    bool rounds;
    bool multiplies_integers;  ///< some matmul is of integers, as convolutions of integers are

    GraphTraits(std::size_t axes = 9, bool rounds = true, bool multiplies_integers = true)
        : axes(axes), rounds(rounds), multiplies_integers(multiplies_integers) {}
    explicit GraphTraits(const ir::GraphData& graph);
    /// True if patterns for this serve graphs with the properties `other` too.
    bool covers(const GraphTraits& other) const {
        return axes >= other.axes && (rounds || !other.rounds) && (multiplies_integers || !other.multiplies_integers);
    }
    /// The properties of either.
    GraphTraits operator|(const GraphTraits& other) const {
        return {std::max(axes, other.axes), rounds || other.rounds, multiplies_integers || other.multiplies_integers};
    }
};
/// Throws Cancelled on a stop, Error(argument) where a pattern's text cannot be read or its definition refuses it.
Patterns patterns_of(std::span<const Definition> definitions, const GraphTraits& sought,
                     const std::stop_token& stop = {});
/// The graphs that the patterns serve.
const GraphTraits& traits_of(const PatternSet& patterns) noexcept;

/// Every tile of the graph: one for each node that is not a leaf (movement ops too: as kernels, where they cannot be
/// views), a match of each definition wherever a spelling of it is found, groups of connected elementwise ops, what
/// reads windows once more where they are of an image (images.hpp), and each of these once more where what it makes is
/// moved to another place (moved_results.hpp).
/// Ordered by their last output, larger tiles first. The graph should have been simplified; definitions are brought
/// into the same form here. Where a value has several spellings, definitions are looked for once in each reading of the
/// graph that follows one number of them everywhere; tiles that differ only in which spelling they provide are one.
std::vector<Match> propose(const ir::GraphData& graph, const alternatives::EClasses& classes, const Patterns& patterns,
                           const Options& options = {});
/// The same where each value has one spelling.
std::vector<Match> propose(const ir::GraphData& graph, const Patterns& patterns, const Options& options = {});
std::vector<Match> propose(const ir::GraphData& graph, std::span<const Definition> definitions,
                           const Options& options = {});

/// Rebuilds the definition of each tile on the tile's operands and compares its normal form, dtype and shape with those
/// of the nodes that the tile provides; the first fault, or nothing. Of versions of states only those are looked at
/// that tiles of other definitions provide: the rows they append. What is moved may begin at any spelling of a value in
/// `classes`, which were proved where they were joined.
std::string verify(const ir::GraphData& graph, const alternatives::EClasses& classes, const std::vector<Match>& matches,
                   std::span<const Definition> definitions);

/// `layer_norm eps=1e-05 (%3, %1, %2) -> (%12) over %4..`: one line a tile, for dumps and tests.
std::string to_string(const std::vector<Match>& matches);

}  // namespace cairn::fusion
