#include "selection/search/scc.hpp"

#include <algorithm>

namespace cairn::search {
namespace {

/// The goals between a provided goal and a higher one that it then depends on. Other edges lead down, so every cycle
/// lies among these goals.
std::vector<bool> below_steps_up(const SearchProblem& problem) {
    std::vector<int> steps(static_cast<std::size_t>(problem.goals()) + 1, 0);  // begun minus ended
    for (int choice = 0; choice < problem.alternatives(); ++choice) {
        const Alternative alternative = problem.alternative(choice);
        if (alternative.provides.empty() || alternative.needs.empty()) continue;
        const int low = alternative.provides.front(), high = alternative.needs.back();
        if (low >= high) continue;
        ++steps[static_cast<std::size_t>(low)];
        --steps[static_cast<std::size_t>(high) + 1];
    }
    std::vector<bool> below;
    int open = 0;
    for (int goal = 0; goal < problem.goals(); ++goal)
        below.push_back((open += steps[static_cast<std::size_t>(goal)]) > 0);
    return below;
}

/// The dependence edges of each of these goals.
std::vector<std::vector<int>> successors_of(const SearchProblem& problem, const std::vector<bool>& among) {
    std::vector<std::vector<int>> successors(static_cast<std::size_t>(problem.goals()));
    for (int goal = 0; goal < problem.goals(); ++goal)
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            const auto add = [&](int from) {
                if (!among[static_cast<std::size_t>(from)]) return;
                auto& list = successors[static_cast<std::size_t>(from)];
                list.insert(list.end(), alternative.needs.begin(), alternative.needs.end());
            };
            add(goal);
            for (const int provided : alternative.provides) add(provided);
        }
    return successors;
}

}  // namespace

std::vector<int> scc_of_goals(const SearchProblem& problem) {
    const auto count = static_cast<std::size_t>(problem.goals());
    std::vector<int> sccs(count, -1);
    const std::vector<bool> may_be = below_steps_up(problem);
    if (std::find(may_be.begin(), may_be.end(), true) == may_be.end()) return sccs;

    const std::vector<std::vector<int>> successors = successors_of(problem, may_be);
    constexpr std::size_t unseen = 0;
    std::vector<std::size_t> seen(count, unseen), lowest(count, 0), next(count, 0);
    std::vector<bool> is_open(count, false);
    std::vector<std::size_t> open, stack;
    std::size_t time = 0;
    int found = 0;
    const auto enter = [&](std::size_t goal) {
        seen[goal] = lowest[goal] = ++time;
        is_open[goal] = true;
        open.push_back(goal);
        stack.push_back(goal);
    };
    for (std::size_t start = 0; start < count; ++start) {
        if (seen[start] == unseen) enter(start);
        while (!stack.empty()) {
            const std::size_t goal = stack.back();
            if (next[goal] < successors[goal].size()) {
                const auto to = static_cast<std::size_t>(successors[goal][next[goal]++]);
                if (seen[to] == unseen)
                    enter(to);
                else if (is_open[to])
                    lowest[goal] = std::min(lowest[goal], seen[to]);
                continue;
            }
            stack.pop_back();
            if (!stack.empty()) lowest[stack.back()] = std::min(lowest[stack.back()], lowest[goal]);
            if (lowest[goal] != seen[goal]) continue;
            const auto first = std::find(open.begin(), open.end(), goal);
            for (auto it = first; it != open.end(); ++it) {
                is_open[*it] = false;
                if (open.end() - first > 1) sccs[*it] = found;
            }
            found += open.end() - first > 1 ? 1 : 0;
            open.erase(first, open.end());
        }
    }
    return sccs;
}

// Repeatedly removes choices whose needs have all been computed. The remaining ones are on a cycle or depend on one,
// and each depends on another remaining one.
int find_cycle(const SearchProblem& problem, std::span<const int> choices) {
    const auto count = static_cast<std::size_t>(problem.goals());
    std::vector<int> maker(count, -1);  // of each goal: index of the choice that computes it
    for (std::size_t i = 0; i < choices.size(); ++i) {
        maker[static_cast<std::size_t>(problem.goal_of(choices[i]))] = static_cast<int>(i);
        for (const int also : problem.alternative(choices[i]).provides)
            maker[static_cast<std::size_t>(also)] = static_cast<int>(i);
    }
    std::vector<std::vector<std::size_t>> users(choices.size());
    std::vector<std::size_t> missing(choices.size(), 0), ready;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        for (const int need : problem.alternative(choices[i]).needs)
            if (const int by = maker[static_cast<std::size_t>(need)]; by >= 0) {
                users[static_cast<std::size_t>(by)].push_back(i);
                ++missing[i];
            }
        if (missing[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
        const std::size_t made = ready.back();
        ready.pop_back();
        for (const std::size_t user : users[made])
            if (--missing[user] == 0) ready.push_back(user);
    }
    const auto left = std::find_if(missing.begin(), missing.end(), [](std::size_t needs) { return needs > 0; });
    if (left == missing.end()) return -1;
    std::vector<bool> passed(choices.size(), false);
    for (auto at = static_cast<std::size_t>(left - missing.begin());;) {
        passed[at] = true;
        for (const int need : problem.alternative(choices[at]).needs) {
            const int by = maker[static_cast<std::size_t>(need)];
            if (by < 0 || missing[static_cast<std::size_t>(by)] == 0) continue;
            if (passed[static_cast<std::size_t>(by)]) return need;
            at = static_cast<std::size_t>(by);
            break;
        }
    }
}

}  // namespace cairn::search
