#pragma once

#include "search/problem.hpp"
#include "search/space.hpp"

#include <optional>
#include <span>
#include <vector>

/// What it costs to want something else.
namespace cairn::search {

/// Of each alternative of a problem what the cheapest path that has it costs, less what `path` costs; nothing where no
/// path of the set has it. The set is one of all paths (not of the cheapest alone), `path` need not be in it. Costs are
/// added exactly and the difference is rounded once: what costs the same differs by 0.
///
///     goal 1: 5 (0) or 9 ()   goal 0: 2 ()   root 1   path {1: 5, 0: 2}   ->   0, 2, 0
///
/// (Inside and outside costs, as of a parser's chart: what a set's cheapest path costs, and what the cheapest of all
/// that completes it to a path of the whole.)
std::vector<std::optional<double>> costs_above(const Problem& problem, const Space& space, Set set,
                                               std::span<const int> path);

}  // namespace cairn::search
