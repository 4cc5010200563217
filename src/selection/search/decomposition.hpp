#pragma once

#include "selection/search/explore.hpp"

#include <span>
#include <string>

/// Decomposition into subproblems that share goals: programs that share the forms of the weights they keep.
namespace cairn::search {

inline constexpr int shared = -1;

/// As explore() for one cheapest path, with goals divided into subproblems: `subproblem_of` has the subproblem of each
/// goal, or `shared`. Goals of a subproblem need only goals of the same one or shared goals, and provide only goals of
/// the same one. A shared goal is not a root; its only alternative needs and provides nothing.
///
/// Lagrangian decomposition with reduced-cost fixing. The cost of a shared goal is divided among the subproblems that
/// may need it, and each subproblem is searched alone: the sum of their optima is a lower bound. An alternative is in
/// no better path of the whole if the optimum of its subproblem with it raises that sum above the cost of a known path.
/// What remains is searched jointly. The higher the bound, the less remains: subgradient steps raise the share of a
/// subproblem that takes a goal that others do not take. The paths of a subproblem are computed once and then evaluated
/// at other shares. Goals at the same place of equal layers have equal shares, so that such layers are evaluated once;
/// if that proves nothing, each goal gets its own shares. If no path is proved to be a cheapest one, all subproblems
/// are searched jointly. (Guignard and Kim, "Lagrangean decomposition", Mathematical Programming 39, 1987; step lengths
/// of Polyak, "Minimization of unsmooth functionals", 1969.)
Exploration explore_decomposed(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options = {});

/// The first fault of the decomposition; empty if there is none.
std::string fault_of_decomposition(const SearchProblem& problem, std::span<const int> subproblem_of);

}  // namespace cairn::search
