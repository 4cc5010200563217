#pragma once

#include "selection/search/cost_shares.hpp"
#include "selection/search/path_dag.hpp"

#include <span>
#include <vector>

/// Cost classes: choices of several subproblems that always cost the same.
namespace cairn::search {

/// For each choice, the choice whose sets represent it through a renaming, in regions equal to a solved one; itself if
/// there is none.
std::vector<int> originals_of(const PathDag& dag, std::size_t choices);

/// The choices of a subproblem: their costs; the shared goal that each takes, by its number in the whole problem, or
/// -1; and their originals (originals_of).
struct SubproblemChoices {
    std::vector<double> costs;
    std::vector<int> goals;
    std::vector<int> originals;
};

/// The cost classes. In each subproblem those of shared goals come first: their numbers are the places of these goals.
struct CostClasses {
    std::vector<SharedGoal> goals;               ///< one for all that are tied
    std::vector<std::vector<int>> cost_classes;  ///< by subproblem and choice
    std::vector<std::vector<double>> costs;      ///< by subproblem and cost class

    bool any() const;
};

/// Shared goals are tied if they cost the same and their choices have the same originals in every subproblem: they are
/// then at the same place of equal layers. Other choices are of one class if they cost the same and have the same
/// original.
CostClasses cost_classes_of(std::span<const SubproblemChoices> subproblems);

}  // namespace cairn::search
