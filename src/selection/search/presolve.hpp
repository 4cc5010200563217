#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/repeated_blocks.hpp"
#include "selection/search/search_problem.hpp"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

/// What can be decided before the search.
namespace cairn::search {

/// A smaller problem. Each of its alternatives stands for a set of partial paths of the given one.
struct PresolvedProblem {
    SearchProblem problem;
    std::vector<PathSet> sets;  ///< of each alternative
    std::vector<int> sccs;      ///< of each goal, as given
    std::vector<int> goals{};   ///< of the given one, of each goal
    int unreachable = -1;       ///< a root that cannot be reached, if there is one; the rest is then left out
    std::size_t work = 0;       ///< goals looked at to find it, in alternatives and to compare them
};

/// Which goals can be reached at all: by an alternative of their own, or as what one of a higher goal provides, whose
/// needs can be reached. (Two goals may each be within reach and yet not both at once.)
std::vector<bool> reachable_goals(const SearchProblem& problem);

/// Takes goal v into its user u where no other goal needs v, no alternative provides it and it is no root:
///
///     alternatives(u) = { a without v } + { a and b : a needs v, b in alternatives(v) }
///
/// (not where b provides a goal that may come into a circle: what a needs beside v does not rest under that goal) and
/// makes one of alternatives of a goal that need and provide the same. Neither loses a path. With `only_cheapest`
/// one of the cheapest paths is enough: then an alternative goes where another of the same goal costs no more, needs no
/// other goals and provides the same. (Not so where a goal it alone needs could bring others with it.) Alternatives
/// that rest on something out of reach are left out, and goals nothing rests on. Nothing on a stop.
/// `sccs` tells for each goal the circle to beware of, or -1 (scc_of_goals). With `share` stretches of goals that are
/// equal (alike.hpp) are first made smaller by themselves, and once. A goal of one of the blocks of `repeat` is taken
/// into goals of the same block only: so what is made of a block does not depend on how many there are.
std::optional<PresolvedProblem> presolve(const SearchProblem& problem, const std::vector<int>& sccs, PathDag& dag,
                                         bool only_cheapest, const std::stop_token& stop = {}, bool share = true,
                                         const RepeatedBlocks& repeat = {});

}  // namespace cairn::search
