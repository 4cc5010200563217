#include "search/explore.hpp"

#include "search/circles.hpp"
#include "search/parts.hpp"
#include "search/reduce.hpp"
#include "search/region.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

// Regions are cut where at most this many goals are needed across the cut: the residual stream, a mask, positions, the
// forms of a weight that the first and the last layer share. A region has at least this many goals.
constexpr int max_crossing = 8, min_region = 4;

/// Where to cut the order of goals: at the places that fewest goals are needed across, of those in the middle half, and
/// never through a circle.
std::vector<int> cuts_of(const Problem& problem, const std::vector<int>& circles, bool share) {
    const int count = problem.goals();
    std::vector<int> cuts{0};
    if (share) {
        std::vector<int> last_user(static_cast<std::size_t>(count), 0);
        for (int goal = 0; goal < count; ++goal)
            for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
                const Alternative alternative = problem.alternative(choice);
                for (const auto& goals : {alternative.needs, alternative.provides})
                    for (const int below : goals) last_user[static_cast<std::size_t>(below)] = goal;
            }
        std::vector<int> crossing(static_cast<std::size_t>(count) + 1, 0);
        const auto cross = [&](int goal, int last, int weight) {
            crossing[static_cast<std::size_t>(goal) + 1] += weight;
            crossing[static_cast<std::size_t>(last) + 1] -= weight;
        };
        std::map<int, std::pair<int, int>> extents;  // of circles, and of what provides their goals
        const auto extend = [&](int member, int goal) {
            if (const int circle = circles[static_cast<std::size_t>(member)]; circle >= 0)
                extents.try_emplace(circle, goal, goal).first->second.second = goal;
        };
        for (int goal = 0; goal < count; ++goal) {
            if (const int last = last_user[static_cast<std::size_t>(goal)]; last > goal) cross(goal, last, 1);
            extend(goal, goal);
            for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice)
                for (const int also : problem.alternative(choice).provides) extend(also, goal);
        }
        for (const auto& [circle, extent] : extents) cross(extent.first, extent.second, max_crossing + 1);
        for (std::size_t p = 1; p < crossing.size(); ++p) crossing[p] += crossing[p - 1];
        const auto quarter = static_cast<std::ptrdiff_t>(count / 4);
        const int fewest = *std::min_element(crossing.begin() + quarter, crossing.end() - quarter);
        for (int p = 1; p < count && fewest <= max_crossing; ++p)
            if (crossing[static_cast<std::size_t>(p)] <= fewest && p - cuts.back() >= min_region) cuts.push_back(p);
    }
    cuts.push_back(count);
    return cuts;
}

using Border = std::map<State, Space::Sum>;  // what is pending there, and the ways to it

class Chain {
public:
    Chain(const Reduced& reduced, Space& space, Limits& limits) : reduced_(reduced), space_(space), limits_(limits) {}

    Set paths(const std::vector<int>& cuts) {
        Border border;
        space_.add(border[{}], Space::done);
        for (std::size_t r = cuts.size() - 1; r-- > 0 && !limits_.stop.stop_requested();)
            border = cross(border, form_of(reduced_, space_, cuts[r], cuts[r + 1]));
        const auto end = border.find({});
        return end == border.end() ? Space::none : space_.set_of(end->second);
    }
    std::size_t solved() const noexcept { return solvers_.size(); }

private:
    /// Follows every state at the upper border of a region through it.
    Border cross(const Border& above, const RegionForm& form) {
        const auto [it, fresh] = solvers_.try_emplace(form.signature, reduced_, space_, form);
        RegionSolver& solver = it->second;
        const int renamed = fresh ? -1 : rename(solver.form(), form);
        State roots;
        for (const int root : reduced_.problem.roots())
            if (root >= form.low && root < form.high) add_goal(roots, root - form.low, false);
        Border below;
        for (const auto& [state, sum] : above) {
            const Set before = space_.set_of(sum);
            State inside = roots, outside;
            for (const char32_t code : state) {
                if (goal_of(code) >= form.low)
                    add_goal(inside, goal_of(code) - form.low, (code & 1U) != 0);
                else
                    outside.push_back(code);
            }
            for (const Exit& exit : solver.solve(inside, limits_)) {
                State next = outside;
                bool is_twice = false;
                for (const char32_t code : exit.ports) {
                    const int goal = form.ports[static_cast<std::size_t>(goal_of(code))];
                    is_twice = is_twice || ((code & 1U) != 0 && is_provided(outside, goal));
                    add_goal(next, goal, (code & 1U) != 0);
                }
                if (!is_twice) space_.add(below[std::move(next)], before, exit.set, renamed);
            }
        }
        return below;
    }

    /// What the choices of one region are called in another one of its form.
    int rename(const RegionForm& solved, const RegionForm& form) {
        std::vector<std::pair<int, int>> names;
        for (std::size_t i = 0; i < form.choices.size(); ++i) names.emplace_back(solved.choices[i], form.choices[i]);
        return space_.rename(std::move(names));
    }

    const Reduced& reduced_;
    Space& space_;
    Limits& limits_;
    std::map<std::u32string, RegionSolver> solvers_;
};

/// Explores a problem where `circles` are to be beware of.
Exploration explore(const Problem& problem, const std::vector<int>& circles, const Options& options) {
    Exploration result;
    result.space = Space(options.only_cheapest);
    const std::optional<Reduced> reduced = reduce(problem, circles, result.space, options.only_cheapest, options.stop);
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
    const std::vector<int> cuts = cuts_of(reduced->problem, reduced->circles, options.share_regions);
    Limits limits{0, options.state_limit, true, options.stop};
    std::optional<Set> paths;
    result.regions = cuts.size() - 1;
    if (result.regions == 1) paths = paths_by_parts(*reduced, result.space, limits);
    result.regions_solved = 1;
    if (!paths) {
        Chain chain(*reduced, result.space, limits);
        paths = chain.paths(cuts);
        result.regions_solved = chain.solved();
    }
    result.paths = *paths;
    result.exact = limits.exact;
    result.states = limits.states;
    if (options.stop.stop_requested())
        result.status = Status::stopped;
    else if (result.paths == Space::none)
        result.status = Status::impossible;
    return result;
}

/// Explores without the alternatives that provide further goals.
Exploration explore_plainly(const Problem& problem, const Options& options) {
    Problem plain;
    std::vector<int> names;  // in the problem, of each alternative
    for (int goal = 0; goal < problem.goals(); ++goal) {
        plain.add_goal();
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice)
            if (const Alternative alternative = problem.alternative(choice); alternative.provides.empty()) {
                plain.add_alternative(alternative.cost, alternative.needs, {});
                names.push_back(choice);
            }
    }
    for (const int root : problem.roots()) plain.add_root(root);
    Exploration result = explore(plain, std::vector<int>(static_cast<std::size_t>(problem.goals()), -1), options);
    result.exact = false;
    if (result.status == Status::unreachable) result.status = Status::impossible;
    result.space.rename_all(names);
    return result;
}

}  // namespace

Exploration explore(const Problem& problem, const Options& options) {
    std::vector<int> all, watched(static_cast<std::size_t>(problem.goals()), -1);
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
        for (std::size_t goal = 0; goal < all.size(); ++goal)
            if (all[goal] == all[static_cast<std::size_t>(met)]) watched[goal] = all[goal];
    }
}

}  // namespace cairn::search
