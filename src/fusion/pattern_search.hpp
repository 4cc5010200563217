#pragma once

#include "fusion/matcher.hpp"

#include <vector>

namespace cairn::fusion {

/// A tile, and the nodes that its operands were found at.
struct Embedding {
    Match match;
    types::SmallVector<ir::NodeId, 4> operands;
};

/// Looks for one pattern at one node: lays the skeleton's regions over the graph's, mark on mark, and proposes operands
/// and numbers to Matcher::prove until one is proved or the guesses are used up.
///
/// Where an operand found is computed with a number of its own, a number that the pattern leaves free may take that one
/// in: the search goes on for matches that cover more. The match that covers most comes first, those found before it
/// follow.
///
///     relu(x * 0.25)  and  relu(x * s), s free   ->   s=0.25 of x;  s=1 of x * 0.25
std::vector<Embedding> find_embeddings(Matcher& matcher, const Pattern& pattern, ir::NodeId root);

}  // namespace cairn::fusion
