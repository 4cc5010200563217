#pragma once

#include "cairn/kernel.hpp"
#include "fusion/body.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/types/small_vector.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

/// Fusion candidates: the regions of a graph that one kernel could compute as a whole. They are proposals: the graph is
/// not changed, and the selection decides by time which matches are used.
namespace cairn::fusion {

using normal_form::Laws;

/// The nodes of a match; mostly few.
using Nodes = types::SmallVector<ir::NodeId, 4>;

/// A match of a definition. It provides its outputs and nothing else: an interior value that is read elsewhere is
/// computed again by another match, or by one that has it among its outputs.
struct Match {
    std::string definition;  ///< a Definition's name, `elementwise`, `fused`, or the atomic op of a single node
    Attributes attributes;   ///< as a Problem of that definition lists them
    Body body;               ///< of `elementwise` and `fused` only
    types::SmallVector<int, 4> results;  ///< of these: value number of each output
    Nodes inputs;    ///< values read, in the definition's operand order, each by its first expression
    Nodes outputs;   ///< nodes provided; any expression of a value provides it
    Nodes interior;  ///< nodes computed inside and not provided, for explain() and dumps
    /// For each output that is a computed value written to another place (moved_results.hpp): the computed value, then
    /// the transposes and reshapes on the way to the output, in order. Empty for an unmoved output; no lists if no
    /// output is moved.
    std::vector<Nodes> moved;

    bool is_moved(std::size_t output) const { return !moved.empty() && !moved[output].empty(); }
    /// The nodes that the definition computes: the outputs, or the values that are moved to be outputs.
    Nodes computed() const {
        Nodes made = outputs;
        for (std::size_t i = 0; i < moved.size(); ++i)
            if (is_moved(i)) made[i] = moved[i][0];
        return made;
    }
};

/// True if two outputs are one value: a program computes each value once.
bool provides_a_value_twice(const alternatives::EClasses& classes, const Match& match);

/// Options of propose().
struct Options {
    bool composites = true;     ///< match definitions
    bool elementwise = true;    ///< group connected elementwise ops, and form epilogues of products
    std::stop_token stop = {};  ///< throws Cancelled
    bool moved_results = true;  ///< let results be written to the place they are moved to
};

/// Definitions prepared for pattern matching: immutable, and usable with any number of threads and graphs. The
/// definitions must outlive them.
struct Pattern;
struct PatternSet;
using Patterns = std::shared_ptr<const PatternSet>;
/// The largest rank of a value, at least four: patterns of higher rank cannot match.
std::size_t axes_in(const ir::GraphData& graph);

/// Traits of graphs that decide which patterns are worth building.
struct GraphTraits {
    static constexpr std::uint64_t all_ops = ~std::uint64_t{0};

    std::size_t axes;  ///< largest rank of a value
    /// Some cast rounds a wider float to f16 or bf16, as in composites that compute 16-bit floats in f32.
    bool rounds;
    bool multiplies_integers;  ///< some matmul is of integers, as in convolutions of integers
    std::uint64_t ops;         ///< bit op_bit(op) for each op

    GraphTraits(std::size_t axes = 9, bool rounds = true, bool multiplies_integers = true, std::uint64_t ops = all_ops)
        : axes(axes), rounds(rounds), multiplies_integers(multiplies_integers), ops(ops) {}
    explicit GraphTraits(const ir::GraphData& graph);
    /// True if patterns built for these traits also serve graphs with the traits `other`.
    bool covers(const GraphTraits& other) const {
        return axes >= other.axes && (rounds || !other.rounds) && (multiplies_integers || !other.multiplies_integers) &&
               (other.ops & ~ops) == 0;
    }
    /// The same traits with all ops.
    GraphTraits with_all_ops() const { return {axes, rounds, multiplies_integers, all_ops}; }
    /// The union of the traits.
    GraphTraits operator|(const GraphTraits& other) const {
        return {std::max(axes, other.axes), rounds || other.rounds, multiplies_integers || other.multiplies_integers,
                ops | other.ops};
    }
};
/// Throws Cancelled on a stop, Error(argument) if a pattern's text is malformed or its definition rejects it.
Patterns patterns_of(std::span<const Definition> definitions, const GraphTraits& sought,
                     const std::stop_token& stop = {});
/// The graphs that the patterns serve.
const GraphTraits& traits_of(const PatternSet& patterns) noexcept;

/// All fusion candidates of a graph:
/// - One for each node that is not a leaf, movement ops included (kernels where they cannot be views).
/// - A match of each definition for each value that computes it, in any expression.
/// - Groups of connected elementwise ops.
/// - For matches that read windows of an image, one that reads the image (image_matches.hpp).
/// - For each of these whose result is moved, one that writes it to its place (moved_results.hpp).
///
/// Ordered by their last output, larger matches first. The graph should be simplified; definitions are simplified here.
/// If a value has several expressions, definitions are matched once in each extraction of the graph (extraction.hpp).
/// Matches that differ only in the expression they provide are one.
std::vector<Match> propose(const ir::GraphData& graph, const alternatives::EClasses& classes, const Patterns& patterns,
                           const Options& options = {});
/// The same with one expression for each value.
std::vector<Match> propose(const ir::GraphData& graph, const Patterns& patterns, const Options& options = {});
std::vector<Match> propose(const ir::GraphData& graph, std::span<const Definition> definitions,
                           const Options& options = {});

/// Rebuilds the definition of each match on the match's operands and compares normal form, dtype and shape with those
/// of the nodes it provides. Returns the first fault; empty if there is none. Of state versions it checks only those
/// that matches of other definitions provide: the rows they append. A moved result may begin at any expression of a
/// value in `classes`, since expressions were proved when joined.
std::string verify(const ir::GraphData& graph, const alternatives::EClasses& classes, const std::vector<Match>& matches,
                   std::span<const Definition> definitions);

/// `layer_norm eps=1e-05 (%3, %1, %2) -> (%12) over %4..`: one line per match, for dumps and tests.
std::string to_string(const std::vector<Match>& matches);

}  // namespace cairn::fusion
