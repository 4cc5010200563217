#include "selection/search/explore.hpp"

#include "selection/search/chain.hpp"
#include "selection/search/components.hpp"
#include "selection/search/presolve.hpp"
#include "selection/search/scc.hpp"

#include <utility>

namespace cairn::search {
namespace {

/// Explores a problem with cycle checks for the goals in `sccs`.
Exploration explore(const SearchProblem& problem, const std::vector<int>& sccs, const Options& options) {
    Exploration result;
    result.dag = PathDag(options.only_cheapest);
    const std::optional<PresolvedProblem> presolved =
        presolve(problem, sccs, result.dag, options.only_cheapest, options.stop, options.share_regions, options.gap);
    if (!presolved) {
        result.status = Status::stopped;
        return result;
    }
    result.work = presolved->work;
    if (presolved->unreachable >= 0) {
        result.status = Status::unreachable;
        result.unreachable = presolved->unreachable;
        return result;
    }
    const std::vector<int> cuts = cuts_of(presolved->problem, presolved->sccs, options.share_regions);
    SearchLimits limits{0, options.state_limit, true, options.stop, options.require_exact, options.only_cheapest};
    std::optional<PathSet> paths;
    result.regions = cuts.size() - 1;
    if (result.regions == 1) paths = paths_by_components(*presolved, result.dag, limits);
    result.regions_solved = 1;
    if (!paths) {
        const ChainResult chained = paths_of_chain(*presolved, result.dag, limits, cuts, options.only_cheapest);
        paths = chained.paths;
        result.regions_solved = chained.solved;
        result.border_work = chained.work;
    }
    result.paths = *paths;
    result.exact = limits.exact;
    result.states = limits.states;
    if (options.stop.stop_requested())
        result.status = Status::stopped;
    else if (limits.ends())
        result.status = Status::too_large;
    else if (result.paths == PathDag::none)
        result.status = Status::impossible;
    return result;
}

/// Explores without the alternatives that provide further goals.
Exploration explore_without_provides(const SearchProblem& problem, const Options& options) {
    const InducedProblem plain = induced_problem(
        problem, [](int) { return true; }, [&](int choice) { return problem.alternative(choice).provides.empty(); });
    const std::vector<int> no_sccs(static_cast<std::size_t>(problem.goals()), -1);
    Exploration result = explore(plain.problem, no_sccs, options);
    result.exact = false;
    if (result.status == Status::unreachable) result.status = Status::impossible;
    result.dag.rename_all(plain.choices);
    return result;
}

}  // namespace

Exploration without_paths(Status status) {
    Exploration found;
    found.status = status;
    found.exact = false;
    return found;
}

Exploration explore(const SearchProblem& problem, const Options& options) {
    std::vector<int> all, watched(static_cast<std::size_t>(problem.goals()), -1);
    if (!options.only_cheapest) watched = scc_of_goals(problem);
    while (true) {
        Exploration result = explore(problem, watched, options);
        // The cheapest path is usually acyclic even without cycle checks.
        const int met = result.status != Status::found || !options.only_cheapest
                            ? -1
                            : find_cycle(problem, result.dag.cheapest(result.paths).choices);
        if (met < 0 || watched[static_cast<std::size_t>(met)] >= 0) {
            // All states followed led to a dead end.
            if (result.status == Status::impossible && !result.exact) return explore_without_provides(problem, options);
            return result;
        }
        if (all.empty()) all = scc_of_goals(problem);
        if (all[static_cast<std::size_t>(met)] < 0) return result;  // an alternative that needs what it provides
        for (std::size_t goal = 0; goal < all.size(); ++goal)
            if (all[goal] == all[static_cast<std::size_t>(met)]) watched[goal] = all[goal];
    }
}

}  // namespace cairn::search
