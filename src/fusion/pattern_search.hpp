#pragma once

#include "fusion/matcher.hpp"

#include <vector>

namespace cairn::fusion {

/// A match, and the nodes at which its operands were found.
struct Embedding {
    Match match;
    types::SmallVector<ir::NodeId, 4> operands;
};

/// Searches for one pattern at one node. Pairs the regions of the skeleton with regions of the graph, boundary op by
/// boundary op, and passes operands and numbers to Matcher::prove until a guess is proved or the guesses are used up.
///
/// If an operand is itself computed with a number, a free number of the pattern may absorb it: the search then
/// continues for matches that cover more. The match that covers most comes first, followed by those found before it.
///
///     relu(x * 0.25)  and  relu(x * s), s free   ->   s=0.25 of x;  s=1 of x * 0.25
std::vector<Embedding> find_embeddings(Matcher& matcher, const Pattern& pattern, ir::NodeId root);

}  // namespace cairn::fusion
