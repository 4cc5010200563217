#include "search/sides.hpp"

#include "search/apart.hpp"
#include "search/reduce.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::search {
namespace {

Exploration without_paths(Status status) {
    Exploration found;
    found.status = status;
    found.exact = false;
    return found;
}

/// The side of each goal that is left.
std::vector<int> sides_of(const Reduced& reduced, std::span<const int> side_of) {
    std::vector<int> sides;
    for (const int goal : reduced.goals) sides.push_back(side_of[static_cast<std::size_t>(goal)]);
    return sides;
}

/// All goals that come along with others, as if each could come into a circle of its own. What makes them is then not
/// taken into what rests on it: that would seem to make them from all that it needs.
std::vector<int> provided_goals(const Problem& problem) {
    std::vector<int> provided(static_cast<std::size_t>(problem.goals()), -1);
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        for (const int goal : problem.alternative(choice).provides) provided[static_cast<std::size_t>(goal)] = goal;
    return provided;
}

/// Apart, and together where that shows no path to be as good as the cheapest.
Exploration explored(const Problem& problem, std::span<const int> side_of, const Options& options) {
    Exploration apart = explore_apart(problem, side_of, options);
    const bool was_found = apart.status == Status::found;
    const double cost = was_found ? apart.space.cost(apart.paths) : 0;
    if (apart.status == Status::stopped || (was_found && (apart.exact || is_as_good(cost, apart.low)))) return apart;
    Exploration together = explore(problem, options);
    together.states += apart.states;
    if (!was_found || together.status == Status::stopped || together.exact) return together;
    together.low = apart.low;
    const bool is_cheaper = together.status == Status::found && together.space.cost(together.paths) < cost;
    return is_cheaper ? std::move(together) : std::move(apart);
}

}  // namespace

Exploration explore_sides(const Problem& problem, std::span<const int> side_of, const Options& options) {
    if (std::none_of(side_of.begin(), side_of.end(), [](int side) { return side > 0; }))
        return explore(problem, options);
    // What is left is searched again and again.
    Space space(true);
    const std::optional<Reduced> reduced = reduce(problem, provided_goals(problem), space, true, options.stop);
    if (!reduced) return without_paths(Status::stopped);
    if (reduced->unreachable >= 0) {
        Exploration found = without_paths(Status::unreachable);
        found.unreachable = reduced->unreachable;
        return found;
    }
    Exploration found = explored(reduced->problem, sides_of(*reduced, side_of), options);
    found.work += reduced->work;
    if (found.status != Status::found) return found;
    Space whole(true);
    std::vector<Set> sets;
    for (const int choice : found.space.cheapest(found.paths).choices)
        for (const int made_of : space.cheapest(reduced->sets[static_cast<std::size_t>(choice)]).choices)
            sets.push_back(whole.choice(made_of, problem.cost(made_of)));
    found.paths = whole.product(sets);
    found.space = std::move(whole);
    return found;
}

std::string fault_of_sides(const Problem& problem, std::span<const int> side_of) {
    if (side_of.size() != static_cast<std::size_t>(problem.goals())) return "not every goal has a side";
    const auto side = [&](int goal) { return side_of[static_cast<std::size_t>(goal)]; };
    const auto named = [](int goal) { return "goal " + std::to_string(goal); };
    for (const int root : problem.roots())
        if (side(root) == shared) return named(root) + " is shared and a root";
    for (int goal = 0; goal < problem.goals(); ++goal) {
        if (side(goal) < shared) return named(goal) + " has a side below 0";
        if (side(goal) == shared && problem.first(goal + 1) - problem.first(goal) != 1)
            return named(goal) + " is shared and has not one alternative";
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            if (side(goal) == shared && !(alternative.needs.empty() && alternative.provides.empty()))
                return named(goal) + " is shared and rests on others, or provides them";
            for (const int need : alternative.needs)
                if (side(need) != shared && side(need) != side(goal))
                    return named(goal) + " rests on " + named(need) + " of another side";
            for (const int also : alternative.provides)
                if (side(also) != side(goal)) return named(goal) + " provides " + named(also) + ", not of its side";
        }
    }
    return "";
}

}  // namespace cairn::search
