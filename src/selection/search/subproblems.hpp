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

/// Subproblems of a decomposition (decomposition.hpp), each evaluated repeatedly for its cheapest path.
namespace cairn::search {

/// The solution of the Lagrangian relaxation: of each subproblem the cost of its cheapest path with its shares and
/// without shared goals, its shares, and the fraction of each shared goal that it takes.
struct RelaxedSolution {
    explicit RelaxedSolution(std::size_t subproblems)
        : costs(subproblems, 0), unshared_costs(subproblems, 0), shares(subproblems), usage(subproblems) {}
    double cost() const { return std::accumulate(costs.begin(), costs.end(), 0.0); }

    std::vector<double> costs, unshared_costs;
    std::vector<std::vector<double>> shares;
    SharedGoalUsage usage;
};

/// All paths of each subproblem, found once; choices that always cost the same are one cost class.
class Subproblems {
public:
    /// Finds the paths of a subproblem.
    using Explore = std::function<Exploration(const SearchProblem&)>;

    /// The problem must outlive this object.
    Subproblems(const SearchProblem& problem, std::span<const int> subproblem_of);

    /// False if a subproblem has no path or cannot be searched exactly.
    bool add_all(const Explore& explore);
    /// Ties shared goals at the same places of equal layers, or separates all.
    void tie(bool tied);
    /// The same as tie(false); the shares of tied goals become those of each of them.
    CostShares untied(const CostShares& tied);

    std::size_t size() const noexcept { return subproblems_.size(); }
    /// The shared goals; tied ones are one.
    const std::vector<SharedGoal>& shared_goals() const noexcept { return shared_; }
    bool is_tied() const noexcept { return is_tied_; }

    void find_cheapest(std::size_t subproblem, const CostShares& shares, RelaxedSolution& all);
    /// For each alternative, a lower bound of the extra cost of its subproblem's paths with it, at the shares of the
    /// last find_cheapest(); 0 for those of shared goals.
    std::vector<double> reduced_costs() const;
    /// The union of the subproblems' paths, which share only goals without needs. Evaluates the subproblems again at
    /// the shares of `all`.
    std::vector<int> whole_path(const RelaxedSolution& all);

private:
    struct Subproblem {
        InducedProblem own;
        SubproblemChoices choices;
        std::shared_ptr<const PathDag> dag;
        PathSet all;
        PathDagEvaluator paths{PathDag(), PathDag::none};
        std::vector<int> cost_classes = {};  // of own choices, those of shared goals first
        std::vector<double> costs = {};      // by cost class, those of shared goals at its shares
        std::vector<int> counts = {};        // of those: how many goals are tied
    };

    bool add_subproblem(int number, const Explore& explore);

    const SearchProblem& problem_;
    std::span<const int> subproblem_of_;
    std::vector<Subproblem> subproblems_;
    std::vector<SharedGoal> shared_;
    bool is_tied_ = false;
};

}  // namespace cairn::search
