#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/search_problem.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <stop_token>
#include <vector>

/// Presolve: reduces a problem before the search.
namespace cairn::search {

/// A reduced problem. Each of its alternatives represents a set of partial paths of the original one.
struct PresolvedProblem {
    SearchProblem problem;
    std::vector<PathSet> sets;  ///< of each alternative
    std::vector<int> sccs;      ///< of each goal, as given
    std::vector<int> goals{};   ///< of each goal, its number in the original problem
    int unreachable = -1;       ///< a root that cannot be reached, if any; the rest is then empty
    std::size_t work = 0;       ///< goals visited in alternatives and comparisons
};

/// The goals that can be reached: by an alternative of their own, or as provided by an alternative of a higher goal,
/// whose needs can be reached. (Two goals may each be reachable, and yet not both together.)
std::vector<bool> reachable_goals(const SearchProblem& problem);

/// Inlines goal v into its user u if no other goal needs v, no alternative provides it and it is not a root:
///
///     alternatives(u) = { a without v } + { a and b : a needs v, b in alternatives(v) }
///
/// (not if an option b provides a goal in an SCC: that goal would then seem to depend on what `a` needs beside v), and
/// merges alternatives of a goal that need and provide the same. Neither loses a path. With `only_cheapest`, which
/// keeps one cheapest path, replaceable goals (substitution.hpp) and dominated alternatives are removed: those for
/// which another one of the goal costs no more, needs no other goals and provides the same (unless a goal that it alone
/// needs may provide others). Alternatives with unreachable needs and goals without users are removed. A finite `gap`
/// (Options) removes replaceable goals, too. Empty on a stop. `sccs` has the SCC of each goal, or -1 (scc_of_goals).
/// With `share` equal segments of goals (equal_segments.hpp) are first reduced alone, and once.
std::optional<PresolvedProblem> presolve(const SearchProblem& problem, const std::vector<int>& sccs, PathDag& dag,
                                         bool only_cheapest, const std::stop_token& stop = {}, bool share = true,
                                         double gap = std::numeric_limits<double>::infinity());

}  // namespace cairn::search
