#include "selection/search/decomposition.hpp"

#include "selection/search/lagrangian.hpp"
#include "selection/search/presolve.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::search {
namespace {

/// The subproblem of each remaining goal.
std::vector<int> subproblems_of(const PresolvedProblem& presolved, std::span<const int> subproblem_of) {
    std::vector<int> subproblems;
    for (const int goal : presolved.goals) subproblems.push_back(subproblem_of[static_cast<std::size_t>(goal)]);
    return subproblems;
}

/// All provided goals, each as an SCC of its own, so that presolve does not inline their producers: an inlined producer
/// would seem to compute them from all that its user needs.
std::vector<int> provided_goals(const SearchProblem& problem) {
    std::vector<int> provided(static_cast<std::size_t>(problem.goals()), -1);
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        for (const int goal : problem.alternative(choice).provides) provided[static_cast<std::size_t>(goal)] = goal;
    return provided;
}

bool is_good(const Exploration& found) {
    return found.status == Status::found &&
           (found.exact || is_within_relative_gap(found.dag.cost(found.paths), found.low));
}

/// Searches by Lagrangian decomposition, then jointly if that proves no path good enough.
Exploration explored(const SearchProblem& problem, std::span<const int> subproblem_of, const Options& options) {
    Exploration lagrangian = explore_lagrangian(problem, subproblem_of, options);
    if (lagrangian.status == Status::stopped || is_good(lagrangian)) return lagrangian;
    const bool was_found = lagrangian.status == Status::found;
    Exploration together = explore(problem, options);
    together.states += lagrangian.states;
    if (!was_found || together.status == Status::stopped || together.exact) return together;
    together.low = lagrangian.low;
    const bool is_cheaper =
        together.status == Status::found && together.dag.cost(together.paths) < lagrangian.dag.cost(lagrangian.paths);
    return is_cheaper ? std::move(together) : std::move(lagrangian);
}

/// Presolves first: the remaining problem is searched repeatedly.
Exploration explored_presolved(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options) {
    PathDag dag(true);
    const std::optional<PresolvedProblem> presolved =
        presolve(problem, provided_goals(problem), dag, true, options.stop);
    if (!presolved) return without_paths(Status::stopped);
    if (presolved->unreachable >= 0) {
        Exploration found = without_paths(Status::unreachable);
        found.unreachable = presolved->unreachable;
        return found;
    }
    Exploration found = explored(presolved->problem, subproblems_of(*presolved, subproblem_of), options);
    found.work += presolved->work;
    if (found.status != Status::found) return found;
    PathDag whole(true);
    std::vector<PathSet> sets;
    for (const int choice : found.dag.cheapest(found.paths).choices)
        for (const int part : dag.cheapest(presolved->sets[static_cast<std::size_t>(choice)]).choices)
            sets.push_back(whole.choice(part, problem.cost(part)));
    found.paths = whole.product(sets);
    found.dag = std::move(whole);
    return found;
}

}  // namespace

Exploration explore_decomposed(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options) {
    const bool is_alone =
        std::none_of(subproblem_of.begin(), subproblem_of.end(), [](int subproblem) { return subproblem > 0; });
    return is_alone ? explore(problem, options) : explored_presolved(problem, subproblem_of, options);
}

std::string fault_of_decomposition(const SearchProblem& problem, std::span<const int> subproblem_of) {
    if (subproblem_of.size() != static_cast<std::size_t>(problem.goals())) return "not every goal has a subproblem";
    const auto subproblem = [&](int goal) { return subproblem_of[static_cast<std::size_t>(goal)]; };
    const auto named = [](int goal) { return "goal " + std::to_string(goal); };
    for (const int root : problem.roots())
        if (subproblem(root) == shared) return named(root) + " is shared and a root";
    for (int goal = 0; goal < problem.goals(); ++goal) {
        if (subproblem(goal) < shared) return named(goal) + " has a negative subproblem";
        if (subproblem(goal) == shared && problem.first(goal + 1) - problem.first(goal) != 1)
            return named(goal) + " is shared and does not have exactly one alternative";
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            if (subproblem(goal) == shared && !(alternative.needs.empty() && alternative.provides.empty()))
                return named(goal) + " is shared and needs or provides other goals";
            for (const int need : alternative.needs)
                if (subproblem(need) != shared && subproblem(need) != subproblem(goal))
                    return named(goal) + " needs " + named(need) + " of another subproblem";
            for (const int also : alternative.provides)
                if (subproblem(also) != subproblem(goal))
                    return named(goal) + " provides " + named(also) + " of another subproblem";
        }
    }
    return "";
}

}  // namespace cairn::search
