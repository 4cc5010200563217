#pragma once

#include "selection/search/cost_classes.hpp"
#include "selection/search/cost_shares.hpp"
#include "selection/search/explore.hpp"
#include "selection/search/path_dag_evaluator.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

/// The sides of a problem (sides.hpp), each of which is asked again and again for its cheapest path.
namespace cairn::search {

/// The cheapest path of each side: what it costs with its shares, and without shared goals, and which part of its
/// shared goals it takes.
struct RelaxedSolution {
    explicit RelaxedSolution(std::size_t subproblems)
        : costs(subproblems, 0), own_costs(subproblems, 0), shares(subproblems), usage(subproblems) {}
    double cost() const { return std::accumulate(costs.begin(), costs.end(), 0.0); }

    std::vector<double> costs, own_costs;
    std::vector<std::vector<double>> shares;
    SharedGoalUsage usage;
};

/// All paths of each side, found once. What always costs the same is of one kind.
class Subproblems {
public:
    /// Finds the paths of a side.
    using Explore = std::function<Exploration(const SearchProblem&, const RepeatedBlocks&)>;

    /// The problem must outlive this object.
    Subproblems(const SearchProblem& problem, std::span<const int> subproblem_of, const RepeatedBlocks& repeat);

    /// False where a side has no path, or cannot be searched exactly, or what is done to the blocks is not the same.
    bool add_all(const Explore& explore);
    /// Makes one of shared goals that stand in the same places of equal layers, or tells all apart. False where those
    /// of blocks do not stand in the same places.
    bool tie(bool tied);
    /// The same as tie(false); shares of those that were tied become shares of each.
    CostShares untied(const CostShares& tied);

    std::size_t size() const noexcept { return subproblems_.size(); }
    /// What is shared, by what is tied.
    const std::vector<SharedGoal>& shared_goals() const noexcept { return shared_; }
    bool is_tied() const noexcept { return is_tied_; }

    void find_cheapest(std::size_t subproblem, const CostShares& shares, RelaxedSolution& all);
    /// How much more than the cheapest path of its side one with it costs at least, of each alternative, at the shares
    /// asked for last; 0 for those of shared goals.
    std::vector<double> reduced_costs() const;
    /// The path that those of the sides are together: they meet in goals that rest on nothing. Asks once more for what
    /// was cheapest at other shares. Choices are numbered in full.
    std::vector<int> whole_path(const RelaxedSolution& all);

private:
    struct Subproblem {
        InducedProblem own;
        RepeatedBlocks repeat;
        SubproblemChoices choices;
        std::shared_ptr<const PathDag> dag;
        PathSet all;
        PathDagEvaluator paths{PathDag(), PathDag::none};
        std::vector<int> cost_classes = {};  // of own choices, those of shared goals first
        std::vector<double> costs = {};      // of kinds, those of shared goals at its shares
        std::vector<int> counts = {};        // of those: how many goals are tied
    };

    bool add_subproblem(int number, const Explore& explore);
    bool are_blocks_tied() const;

    const SearchProblem& problem_;
    std::span<const int> subproblem_of_;
    RepeatedBlocks repeat_;
    std::vector<Subproblem> subproblems_;
    std::vector<SharedGoal> shared_;
    bool is_tied_ = false;
};

}  // namespace cairn::search
