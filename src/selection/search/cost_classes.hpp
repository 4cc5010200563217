#pragma once

#include "selection/search/cost_shares.hpp"
#include "selection/search/path_dag.hpp"
#include "selection/search/repeated_blocks.hpp"

#include <span>
#include <vector>

/// Which choices of several sides always cost the same.
namespace cairn::search {

/// Of each of so many choices the one whose sets stand for its own under another name, in regions that are equal to one
/// that was solved: itself where nothing does.
std::vector<int> originals_of(const PathDag& dag, std::size_t choices);

/// The choices of a side: what they cost, which shared goal each stands for, by its number in the whole, or -1, and its
/// original.
struct SubproblemChoices {
    std::vector<double> costs;
    std::vector<int> goals;
    std::vector<int> originals;
};

/// Kinds of choices. Of each side those of shared goals come first: their numbers are the places of these.
struct CostClasses {
    std::vector<SharedGoal> goals;               ///< one for all that are tied
    std::vector<std::vector<int>> cost_classes;  ///< of each side, of each choice
    std::vector<std::vector<double>> costs;      ///< of each side, of each kind

    bool any() const;
};

/// Shared goals are tied where they cost the same and their choices have the same originals in every side: they stand
/// in the same place of equal layers, whoever reads them; goals of blocks that are not there (repeat.hpp) are counted
/// with their fellows. Other choices are of one kind where they cost the same and have the same original.
CostClasses cost_classes_of(std::span<const SubproblemChoices> subproblems, const RepeatedBlocks& repeat = {});

}  // namespace cairn::search
