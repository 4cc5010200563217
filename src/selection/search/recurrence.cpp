#include "selection/search/recurrence.hpp"

#include <algorithm>

namespace cairn::search {

Recurrence::Recurrence(const PresolvedProblem& presolved, const RepeatedBlocks& repeat)
    : presolved_(presolved), repeat_(repeat) {
    if (!repeat.any()) return;
    for (const int root : presolved.problem.roots()) roots_.push_back(presolved.goals[static_cast<std::size_t>(root)]);
    std::sort(roots_.begin(), roots_.end());
}

void Recurrence::pass(const RegionForm& form, const RegionForm& solved) {
    passed_.push_back({&solved, form.ports, form.choices});
}

std::optional<std::size_t> Recurrence::at(int border, const std::vector<State>& states, std::size_t segments) {
    const int goal = presolved_.goals[static_cast<std::size_t>(border)];
    borders_.insert_or_assign(goal, BorderStates{passed_.size(), segments, states});
    if (goal < repeat_.low_of(1) || goal + 2 * repeat_.goals > repeat_.low_of(repeat_.blocks)) return std::nullopt;
    const auto above = borders_.find(goal + repeat_.goals), highest = borders_.find(goal + 2 * repeat_.goals);
    if (above == borders_.end() || highest == borders_.end() || !has_same_roots(goal)) return std::nullopt;
    const std::size_t regions = passed_.size() - above->second.regions;
    if (above->second.regions - highest->second.regions != regions) return std::nullopt;
    for (std::size_t r = above->second.regions; r < passed_.size(); ++r)
        if (!is_above(passed_[r - regions], passed_[r])) return std::nullopt;
    if (!are_above(above->second.states, states)) return std::nullopt;
    return above->second.segments;
}

/// True if a region is the same as one a block below it.
bool Recurrence::is_above(const PassedRegion& above, const PassedRegion& below) const {
    return above.solved == below.solved &&
           std::equal(above.ports.begin(), above.ports.end(), below.ports.begin(), below.ports.end(),
                      [&](int a, int b) { return a == counterpart_above(b); }) &&
           std::equal(above.choices.begin(), above.choices.end(), below.choices.begin(), below.choices.end(),
                      [&](int a, int b) { return a == b + repeat_.choices; });
}

/// True if the block from this goal on has the same roots as the one above it.
bool Recurrence::has_same_roots(int low) const {
    const auto root = [&](int goal) { return std::lower_bound(roots_.begin(), roots_.end(), goal); };
    const auto begin = root(low), middle = root(low + repeat_.goals), end = root(low + 2 * repeat_.goals);
    return std::equal(begin, middle, middle, end, [&](int a, int b) { return a + repeat_.goals == b; });
}

/// The counterpart of a goal one block higher; goals below all blocks are their own. -1 if it was removed.
int Recurrence::counterpart_above(int goal) const {
    const int given = presolved_.goals[static_cast<std::size_t>(goal)];
    if (given < repeat_.low) return goal;
    const auto found = std::lower_bound(presolved_.goals.begin(), presolved_.goals.end(), given + repeat_.goals);
    return found != presolved_.goals.end() && *found == given + repeat_.goals
               ? static_cast<int>(found - presolved_.goals.begin())
               : -1;
}

/// True if states equal those of the border a block below. They are in the same order, since goals of blocks are above
/// all other pending goals.
bool Recurrence::are_above(const std::vector<State>& above, const std::vector<State>& states) const {
    return std::equal(above.begin(), above.end(), states.begin(), states.end(), [&](const State& a, const State& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char32_t there, char32_t here) {
            return goal_of(there) == counterpart_above(goal_of(here)) && ((there ^ here) & 1U) == 0;
        });
    });
}

}  // namespace cairn::search
