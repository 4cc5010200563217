#pragma once

#include "selection/search/search_problem.hpp"

#include <stop_token>
#include <vector>

/// Dominance of goals: a goal that another one replaces at less cost in all paths.
namespace cairn::search {

/// True for each goal that no path within `gap` of the cheapest one needs, because each path that needs it becomes
/// cheaper by more than that if another goal takes its place:
///
///     goal 0, the weight kept in f32: 9        goal 2, the product:  0.4, needs 0
///     goal 1, the weight kept in 8 bits: 3                           0.1, needs 1       ->   goal 0
///
/// Goals without needs are replaced. Each alternative that needs the goal must have a twin of the same goal that needs
/// the other one and provides the same. What twins alone need, such as the packing of that form, counts once; what the
/// same alternatives need as the replaced goal, and no others, no longer counts; of each goal with such alternatives
/// the largest additional cost of a twin counts. Goals that are roots, in an SCC (`sccs` is not -1) or provided by
/// alternatives stay.
/// On a stop, some that are found so far.
std::vector<bool> replaceable_goals(const SearchProblem& problem, const std::vector<int>& sccs, double gap,
                                    const std::stop_token& stop = {});

}  // namespace cairn::search
