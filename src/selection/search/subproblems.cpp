#include "selection/search/subproblems.hpp"

#include "selection/search/decomposition.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn::search {

Subproblems::Subproblems(const SearchProblem& problem, std::span<const int> subproblem_of)
    : problem_(problem), subproblem_of_(subproblem_of) {}

bool Subproblems::add_all(const Explore& explore) {
    const int count = subproblem_of_.empty() ? 0 : *std::max_element(subproblem_of_.begin(), subproblem_of_.end()) + 1;
    for (int subproblem = 0; subproblem < count; ++subproblem)
        if (!add_subproblem(subproblem, explore)) return false;
    return true;
}

bool Subproblems::add_subproblem(int number, const Explore& explore) {
    std::vector<bool> needed(subproblem_of_.size(), false);
    for (int goal = 0; goal < problem_.goals(); ++goal)
        if (subproblem_of_[static_cast<std::size_t>(goal)] == number)
            for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
                for (const int need : problem_.alternative(choice).needs) needed[static_cast<std::size_t>(need)] = true;
    const auto is_its = [&](int goal) {
        const int subproblem = subproblem_of_[static_cast<std::size_t>(goal)];
        return subproblem == shared ? needed[static_cast<std::size_t>(goal)] : subproblem == number;
    };
    InducedProblem own = induced_problem(problem_, is_its, [](int) { return true; });
    Exploration all = explore(own.problem);
    if (all.status != Status::found || !all.exact) return false;
    auto dag = std::make_shared<const PathDag>(std::move(all.dag));
    Subproblem& subproblem = subproblems_.emplace_back(Subproblem{std::move(own), {}, std::move(dag), all.paths});
    for (int goal = 0; goal < subproblem.own.problem.goals(); ++goal) {
        const int joint_goal = subproblem.own.goals[static_cast<std::size_t>(goal)];
        for (int choice = subproblem.own.problem.first(goal); choice < subproblem.own.problem.first(goal + 1);
             ++choice) {
            subproblem.choices.costs.push_back(subproblem.own.problem.cost(choice));
            subproblem.choices.goals.push_back(
                subproblem_of_[static_cast<std::size_t>(joint_goal)] == shared ? joint_goal : -1);
        }
    }
    subproblem.choices.originals = originals_of(*subproblem.dag, subproblem.own.choices.size());
    return true;
}

void Subproblems::tie(bool tied) {
    std::vector<SubproblemChoices> choices;
    for (Subproblem& subproblem : subproblems_) {
        if (!tied) std::iota(subproblem.choices.originals.begin(), subproblem.choices.originals.end(), 0);
        choices.push_back(subproblem.choices);
    }
    CostClasses classes = cost_classes_of(choices);
    is_tied_ = classes.any();
    shared_ = std::move(classes.goals);
    for (std::size_t s = 0; s < subproblems_.size(); ++s) {
        subproblems_[s].paths = PathDagEvaluator(subproblems_[s].dag, subproblems_[s].all, classes.cost_classes[s]);
        subproblems_[s].cost_classes = std::move(classes.cost_classes[s]);
        subproblems_[s].costs = std::move(classes.costs[s]);
    }
    for (Subproblem& subproblem : subproblems_) subproblem.counts.clear();
    for (const SharedGoal& goal : shared_)
        for (const auto& [subproblem, position] : goal.at) {
            subproblems_[subproblem].counts.resize(std::max(subproblems_[subproblem].counts.size(), position + 1));
            subproblems_[subproblem].counts[position] = goal.count;
        }
}

CostShares Subproblems::untied(const CostShares& tied) {
    std::vector<std::vector<int>> before;
    for (const Subproblem& subproblem : subproblems_) before.push_back(subproblem.cost_classes);
    tie(false);
    CostShares shares(shared_, subproblems_.size());
    for (std::size_t s = 0; s < subproblems_.size(); ++s)
        for (std::size_t c = 0; c < before[s].size(); ++c)
            if (subproblems_[s].choices.goals[c] >= 0)
                shares.set(s, static_cast<std::size_t>(subproblems_[s].cost_classes[c]),
                           tied.of(s, static_cast<std::size_t>(before[s][c])));
    return shares;
}

void Subproblems::find_cheapest(std::size_t s, const CostShares& shares, RelaxedSolution& all) {
    Subproblem& subproblem = subproblems_[s];
    const std::size_t position_count = subproblem.counts.size();
    for (std::size_t position = 0; position < position_count; ++position)
        subproblem.costs[position] = shares.of(s, position);
    all.shares[s].assign(subproblem.costs.begin(),
                         subproblem.costs.begin() + static_cast<std::ptrdiff_t>(position_count));
    all.costs[s] = subproblem.paths.cheapest(subproblem.costs);
    const std::vector<int> choice_counts = subproblem.paths.choice_counts(subproblem.costs.size());
    all.unshared_costs[s] = 0;
    for (std::size_t cost_class = position_count; cost_class < choice_counts.size(); ++cost_class)
        if (choice_counts[cost_class] > 0)
            all.unshared_costs[s] += choice_counts[cost_class] * subproblem.costs[cost_class];
    all.usage[s].assign(choice_counts.begin(), choice_counts.begin() + static_cast<std::ptrdiff_t>(position_count));
    for (std::size_t position = 0; position < position_count; ++position)
        all.usage[s][position] /= subproblem.counts[position];
}

std::vector<double> Subproblems::reduced_costs() const {
    std::vector<double> whole_reduced_costs(static_cast<std::size_t>(problem_.alternatives()), 0);
    for (const Subproblem& subproblem : subproblems_) {
        const std::vector<double> reduced_costs = subproblem.paths.reduced_costs(subproblem.costs.size());
        for (std::size_t c = 0; c < subproblem.cost_classes.size(); ++c)
            if (subproblem.choices.goals[c] < 0)
                whole_reduced_costs[static_cast<std::size_t>(subproblem.own.choices[c])] =
                    reduced_costs[static_cast<std::size_t>(subproblem.cost_classes[c])];
    }
    return whole_reduced_costs;
}

std::vector<int> Subproblems::whole_path(const RelaxedSolution& all) {
    std::vector<int> path, own, both;
    for (std::size_t s = 0; s < subproblems_.size(); ++s) {
        Subproblem& subproblem = subproblems_[s];
        std::copy(all.shares[s].begin(), all.shares[s].end(), subproblem.costs.begin());
        subproblem.paths.cheapest(subproblem.costs);
        own.clear(), both.clear();
        for (const int choice : subproblem.paths.path())
            own.push_back(subproblem.own.choices[static_cast<std::size_t>(choice)]);
        std::set_union(path.begin(), path.end(), own.begin(), own.end(), std::back_inserter(both));
        path.swap(both);
    }
    return path;
}

}  // namespace cairn::search
