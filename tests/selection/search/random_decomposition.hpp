#pragma once

#include "selection/search/explore.hpp"
#include "selection/search/search_problem.hpp"
#include "tests/selection/search/random_problem.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace cairn::search::test {

/// A problem with several subproblems.
struct DecomposedProblem {
    SearchProblem problem;
    std::vector<int> subproblem_of;
};

/// Several random problems whose alternatives may need shared goals as well. Deterministic for a seed.
DecomposedProblem random_decomposition(std::uint64_t seed);

/// The same in layers that depend on each other: equal ones, or with one layer of a different cost. Shared goals belong
/// to a layer, and some are needed by the next one too. Some problems have goals below that all layers may depend on,
/// and goals above. With `layers` 0 the number depends on the seed.
DecomposedProblem layered_decomposition(std::uint64_t seed, int layers = 0);

/// Subproblems in layers, each of which may read one of several forms of a weight of the layer: the joint search
/// exceeds its state limit.
DecomposedProblem layers_of_forms(std::uint64_t seed, int layers, int weights, int forms, int subproblems);

/// Three subproblems in equal layers, each of which may read two of the three forms of a layer. Each two of them share
/// a form, but no form serves all three: no shares prove that two forms are required.
DecomposedProblem layers_without_a_form_for_all(std::uint64_t seed, int layers);

/// Two subproblems, one of which is too large for an exact search alone.
DecomposedProblem with_a_subproblem_too_large();

/// Compares a search with the cheapest path of the whole in thousands of random decompositions; if there is no path,
/// the search must end with the status that `without` returns.
void expect_the_cheapest(const std::function<Exploration(const DecomposedProblem&)>& search,
                         const std::function<Status(const Exploration& whole)>& without);

}  // namespace cairn::search::test
