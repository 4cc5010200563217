#include "search/explore.hpp"

#include "search/chain.hpp"
#include "search/circles.hpp"
#include "search/parts.hpp"
#include "search/reduce.hpp"

#include <utility>

namespace cairn::search {
namespace {

/// Explores a problem where `circles` are to be beware of.
Exploration explore(const Problem& problem, const std::vector<int>& circles, const Options& options) {
    Exploration result;
    result.space = Space(options.only_cheapest);
    result.space.move_from(options.repeat.first);
    const std::optional<Reduced> reduced = reduce(problem, circles, result.space, options.only_cheapest, options.stop,
                                                  options.share_regions, options.repeat);
    if (!reduced) {
        result.status = Status::stopped;
        return result;
    }
    result.work = reduced->work;
    if (reduced->unreachable >= 0) {
        result.status = Status::unreachable;
        result.unreachable = reduced->unreachable;
        return result;
    }
    // Where blocks come again there is a cut in the same place of each.
    const std::vector<int> cuts =
        cuts_of(reduced->problem, reduced->circles, options.share_regions, options.repeat.any() ? 1 : usual_region);
    Limits limits{0, options.state_limit, true, options.stop, options.only_exact};
    std::optional<Set> paths;
    bool is_whole = true;
    result.regions = cuts.size() - 1;
    if (result.regions == 1 && !options.repeat.any()) paths = paths_by_parts(*reduced, result.space, limits);
    result.regions_solved = 1;
    if (!paths) {
        const Chained chained =
            paths_of_chain(*reduced, result.space, limits, cuts, options.only_cheapest, options.repeat);
        paths = chained.paths;
        is_whole = chained.repeated;
        result.regions_solved = chained.solved;
        result.border_work = chained.work;
    }
    result.paths = *paths;
    result.exact = limits.exact;
    result.states = limits.states;
    if (options.stop.stop_requested())
        result.status = Status::stopped;
    else if (limits.ends() || !is_whole)
        result.status = Status::cut;
    else if (result.paths == Space::none)
        result.status = Status::impossible;
    return result;
}

/// Explores without the alternatives that provide further goals.
Exploration explore_plainly(const Problem& problem, const Options& options) {
    const Excerpt plain = excerpt_of(
        problem, [](int) { return true; }, [&](int choice) { return problem.alternative(choice).provides.empty(); });
    const std::vector<int> no_circles(static_cast<std::size_t>(problem.goals()), -1);
    Exploration result = explore(plain.problem, no_circles, options);
    result.exact = false;
    if (result.status == Status::unreachable) result.status = Status::impossible;
    result.space.rename_all(plain.choices);
    return result;
}

}  // namespace

Exploration without_paths(Status status) {
    Exploration found;
    found.status = status;
    found.exact = false;
    return found;
}

Exploration explore(const Problem& problem, const Options& options) {
    std::vector<int> all, watched(static_cast<std::size_t>(problem.goals()), -1);
    if (options.repeat.any()) return explore(problem, circles_of(problem), options);
    if (!options.only_cheapest) watched = circles_of(problem);
    while (true) {
        Exploration result = explore(problem, watched, options);
        // The cheapest path of all is mostly free of circles though nobody has seen to it.
        const int met = result.status != Status::found || !options.only_cheapest
                            ? -1
                            : circle_among(problem, result.space.cheapest(result.paths).choices);
        if (met < 0 || watched[static_cast<std::size_t>(met)] >= 0) {
            // Of the states that were followed none has led to an end.
            if (result.status == Status::impossible && !result.exact) return explore_plainly(problem, options);
            return result;
        }
        if (all.empty()) all = circles_of(problem);
        if (all[static_cast<std::size_t>(met)] < 0) return result;  // an alternative that needs what it provides
        for (std::size_t goal = 0; goal < all.size(); ++goal)
            if (all[goal] == all[static_cast<std::size_t>(met)]) watched[goal] = all[goal];
    }
}

}  // namespace cairn::search
