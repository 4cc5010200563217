#include "search/sides.hpp"

#include "search/apart.hpp"
#include "search/reduce.hpp"
#include "search/repeat.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::search {
namespace {

// Of equal blocks so many are searched: what lies above and below them makes no difference to the middle ones.
constexpr int most_blocks = 6;

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

bool is_good(const Exploration& found) {
    return found.status == Status::found && (found.exact || is_as_good(found.space.cost(found.paths), found.low));
}

/// Apart, and together where that shows no path to be as good as the cheapest.
Exploration explored(const Problem& problem, std::span<const int> side_of, const Options& options) {
    Exploration apart = explore_apart(problem, side_of, options);
    if (apart.status == Status::stopped || is_good(apart) || options.repeat.any()) return apart;
    const bool was_found = apart.status == Status::found;
    Exploration together = explore(problem, options);
    together.states += apart.states;
    if (!was_found || together.status == Status::stopped || together.exact) return together;
    together.low = apart.low;
    const bool is_cheaper =
        together.status == Status::found && together.space.cost(together.paths) < apart.space.cost(apart.paths);
    return is_cheaper ? std::move(together) : std::move(apart);
}

/// What each alternative that is left is made of.
MadeOf made_of(const Reduced& reduced, const Space& space) {
    MadeOf made_of;
    for (const Set set : reduced.sets) {
        const Path path = space.cheapest(set);
        made_of.choices.insert(made_of.choices.end(), path.choices.begin(), path.choices.end());
        made_of.ends.push_back(static_cast<int>(made_of.choices.size()));
    }
    return made_of;
}

/// Makes the problem smaller first: what is left is searched again and again.
Exploration explored_smaller(const Problem& problem, std::span<const int> side_of, const Options& options) {
    Space space(true);
    const std::optional<Reduced> reduced =
        reduce(problem, provided_goals(problem), space, true, options.stop, true, options.repeat);
    if (!reduced) return without_paths(Status::stopped);
    if (reduced->unreachable >= 0) {
        Exploration found = without_paths(Status::unreachable);
        found.unreachable = reduced->unreachable;
        return found;
    }
    const MadeOf parts = made_of(*reduced, space);
    const std::optional<Repeat> repeat = repeat_left(reduced->problem, reduced->goals, parts, options.repeat);
    if (!repeat) return without_paths(Status::cut);
    Options of_smaller = options;
    of_smaller.repeat = *repeat;
    Exploration found = explored(reduced->problem, sides_of(*reduced, side_of), of_smaller);
    found.work += reduced->work;
    if (found.status != Status::found) return found;
    Space whole(true);
    std::vector<Set> sets;
    for (const int in_full : found.space.cheapest(found.paths).choices) {
        const auto [choice, up] = repeat->written(in_full);
        for (const int part : parts.of(choice))
            sets.push_back(whole.choice(options.repeat.in_full(part, up), problem.cost(part)));
    }
    found.paths = whole.product(sets);
    found.space = std::move(whole);
    return found;
}

}  // namespace

Exploration explore_sides(const Problem& problem, std::span<const int> side_of, const Options& options) {
    const bool is_alone = std::none_of(side_of.begin(), side_of.end(), [](int side) { return side > 0; });
    const auto search = [&](const Problem& part, std::span<const int> sides, const Options& with) {
        return is_alone ? explore(part, with) : explored_smaller(part, sides, with);
    };
    const Repeat repeat = options.share_regions ? repeat_in(problem, side_of) : Repeat();
    if (repeat.blocks > most_blocks) {
        const Folded few = folded(problem, side_of, repeat, most_blocks);
        Options of_few = options;
        of_few.repeat = few.repeat;
        Exploration found = search(few.problem, few.side_of, of_few);
        if (is_good(found) || found.status == Status::stopped) return found;
    }
    return search(problem, side_of, options);
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
