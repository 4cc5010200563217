#include "search/asked_sides.hpp"

#include "search/sides.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace cairn::search {

AskedSides::AskedSides(const Problem& problem, std::span<const int> side_of, const Repeat& repeat)
    : problem_(problem), side_of_(side_of), repeat_(repeat) {}

bool AskedSides::add_all(const Explore& explore) {
    const int count = side_of_.empty() ? 0 : *std::max_element(side_of_.begin(), side_of_.end()) + 1;
    for (int side = 0; side < count; ++side)
        if (!add_side(side, explore)) return false;
    return true;
}

bool AskedSides::add_side(int number, const Explore& explore) {
    std::vector<bool> needed(side_of_.size(), false);
    for (int goal = 0; goal < problem_.goals(); ++goal)
        if (side_of_[static_cast<std::size_t>(goal)] == number)
            for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
                for (const int need : problem_.alternative(choice).needs) needed[static_cast<std::size_t>(need)] = true;
    const auto is_its = [&](int goal) {
        const int side = side_of_[static_cast<std::size_t>(goal)];
        return side == shared ? needed[static_cast<std::size_t>(goal)] : side == number;
    };
    Excerpt own = excerpt_of(problem_, is_its, [](int) { return true; });
    const std::optional<Repeat> repeat = repeat_left(own, repeat_);
    if (!repeat) return false;
    Exploration all = explore(own.problem, *repeat);
    if (all.status != Status::found || !all.exact) return false;
    auto space = std::make_shared<const Space>(std::move(all.space));
    Side& side = sides_.emplace_back(Side{std::move(own), *repeat, {}, std::move(space), all.paths});
    for (int goal = 0; goal < side.own.problem.goals(); ++goal) {
        const int there = side.own.goals[static_cast<std::size_t>(goal)];
        for (int choice = side.own.problem.first(goal); choice < side.own.problem.first(goal + 1); ++choice) {
            side.choices.costs.push_back(side.own.problem.cost(choice));
            side.choices.goals.push_back(side_of_[static_cast<std::size_t>(there)] == shared ? there : -1);
        }
    }
    side.choices.originals = originals_of(*side.space, side.own.choices.size());
    return true;
}

bool AskedSides::tie(bool tied) {
    std::vector<SideChoices> choices;
    for (Side& side : sides_) {
        if (!tied) std::iota(side.choices.originals.begin(), side.choices.originals.end(), 0);
        choices.push_back(side.choices);
    }
    Ties ties = ties_of(choices, repeat_);
    is_tied_ = ties.any();
    shared_ = std::move(ties.goals);
    for (std::size_t s = 0; s < sides_.size(); ++s) {
        sides_[s].paths = Unfolded(sides_[s].space, sides_[s].all, ties.kinds[s]);
        sides_[s].kinds = std::move(ties.kinds[s]);
        sides_[s].costs = std::move(ties.costs[s]);
    }
    for (Side& side : sides_) side.counts.clear();
    for (const SharedGoal& goal : shared_)
        for (const auto& [side, place] : goal.at) {
            sides_[side].counts.resize(std::max(sides_[side].counts.size(), place + 1));
            sides_[side].counts[place] = goal.count;
        }
    return are_blocks_tied();
}

/// Whether shared goals of all blocks but the lowest and the highest are tied to their fellows: it does not matter then
/// which of these are those of the blocks that are not there.
bool AskedSides::are_blocks_tied() const {
    if (!repeat_.any()) return true;
    for (const Side& side : sides_) {
        std::map<int, int> kinds;
        for (std::size_t c = 0; c < side.kinds.size(); ++c)
            if (const int goal = side.choices.goals[c];
                goal >= repeat_.low_of(1) && goal < repeat_.low_of(repeat_.blocks - 1))
                kinds[goal] = side.kinds[c];
        for (const auto& [goal, kind] : kinds) {
            if (goal < repeat_.low_of(2)) continue;
            const auto below = kinds.find(goal - repeat_.goals);
            if (below == kinds.end() || below->second != kind) return false;
        }
    }
    return true;
}

Shares AskedSides::untied(const Shares& tied) {
    std::vector<std::vector<int>> before;
    for (const Side& side : sides_) before.push_back(side.kinds);
    tie(false);
    Shares shares(shared_, sides_.size());
    for (std::size_t s = 0; s < sides_.size(); ++s)
        for (std::size_t c = 0; c < before[s].size(); ++c)
            if (sides_[s].choices.goals[c] >= 0)
                shares.set(s, static_cast<std::size_t>(sides_[s].kinds[c]),
                           tied.of(s, static_cast<std::size_t>(before[s][c])));
    return shares;
}

void AskedSides::find_cheapest(std::size_t s, const Shares& shares, Cheapests& all) {
    Side& side = sides_[s];
    const std::size_t places = side.counts.size();
    for (std::size_t place = 0; place < places; ++place) side.costs[place] = shares.of(s, place);
    all.shares[s].assign(side.costs.begin(), side.costs.begin() + static_cast<std::ptrdiff_t>(places));
    all.costs[s] = side.paths.cheapest(side.costs);
    const std::vector<int> taken = side.paths.taken(side.costs.size());
    all.own_costs[s] = 0;
    for (std::size_t kind = places; kind < taken.size(); ++kind)
        if (taken[kind] > 0) all.own_costs[s] += taken[kind] * side.costs[kind];
    all.takes[s].assign(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(places));
    for (std::size_t place = 0; place < places; ++place) all.takes[s][place] /= side.counts[place];
}

std::vector<double> AskedSides::above() const {
    std::vector<double> above_whole(static_cast<std::size_t>(problem_.alternatives()), 0);
    for (const Side& side : sides_) {
        const std::vector<double> above = side.paths.above(side.costs.size());
        for (std::size_t c = 0; c < side.kinds.size(); ++c)
            if (side.choices.goals[c] < 0)
                above_whole[static_cast<std::size_t>(side.own.choices[c])] =
                    above[static_cast<std::size_t>(side.kinds[c])];
    }
    return above_whole;
}

std::vector<int> AskedSides::whole_path(const Cheapests& all) {
    std::vector<int> path, own, both;
    for (std::size_t s = 0; s < sides_.size(); ++s) {
        Side& side = sides_[s];
        std::copy(all.shares[s].begin(), all.shares[s].end(), side.costs.begin());
        side.paths.cheapest(side.costs);
        own.clear(), both.clear();
        for (const int in_full : side.paths.path())
            own.push_back(side.repeat.in_whole(in_full, side.own.choices, repeat_));
        std::set_union(path.begin(), path.end(), own.begin(), own.end(), std::back_inserter(both));
        path.swap(both);
    }
    return path;
}

}  // namespace cairn::search
