#pragma once

#include "selection/search/explore.hpp"
#include "selection/search/search_problem.hpp"
#include "tests/selection/search/random_problem.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace cairn::search::test {

/// A problem of several sides.
struct DecomposedProblem {
    SearchProblem problem;
    std::vector<int> subproblem_of;
};

/// Several random problems, whose alternatives may need shared goals as well. Of what it is made a number tells.
DecomposedProblem random_decomposition(std::uint64_t seed);

/// The same in layers that rest on each other: equal ones, or such of which one differs in what something costs. Shared
/// goals belong to a layer, and some are needed by the next one too. Some have goals below that all layers may rest on,
/// and goals above. Of 0 layers: some.
DecomposedProblem layered_decomposition(std::uint64_t seed, int layers = 0);

/// Sides in layers, each of which may read one of several forms of a weight of the layer: more states than may be
/// looked at.
DecomposedProblem layers_of_forms(std::uint64_t seed, int layers, int weights, int forms, int subproblems);

/// Three sides in equal layers, each of which may read two of the three forms in a layer: no two share one that serves
/// all, so that no shares prove what two forms cost.
DecomposedProblem layers_without_a_form_for_all(std::uint64_t seed, int layers);

/// Two sides, one of which is too much to be searched exactly alone.
DecomposedProblem with_a_subproblem_too_large();

/// Holds what a search finds in thousands of random meetings against the cheapest path of the whole; where that has
/// none, the search is to end in the status that `without` gives for it.
void expect_the_cheapest(const std::function<Exploration(const DecomposedProblem&)>& search,
                         const std::function<Status(const Exploration& whole)>& without);

}  // namespace cairn::search::test
