#include "tests/selection/search/random_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace cairn::search::test {
SearchProblem random_problem(std::uint64_t seed, const RandomProblemOptions& make) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return static_cast<int>(random() % end); };
    SearchProblem problem;
    for (int layer = 0, first = 0; layer < make.layers; ++layer, first = problem.goals()) {
        std::mt19937_64 again(seed + 1);  // the same in every layer
        const auto like = [&](std::uint64_t end) { return static_cast<int>(again() % end); };
        int left = make.alternatives;
        for (int g = 0; g < make.goals; ++g) {
            problem.add_goal();
            const int count = make.only_along && like(3) == 0 ? 0 : std::min(left, 1 + like(3));
            left -= count;
            for (int a = 0; a < count; ++a) {
                std::set<int> needs, provides;
                for (int k = 0; k < 3 && g > 0; ++k)
                    if (like(2) == 0) needs.insert(first + like(static_cast<std::uint64_t>(g)));
                if (const bool rests = like(3) == 0; rests && first > 0) needs.insert(first - 1);
                if (make.provides && g > 0 && like(3) == 0)
                    for (int k = 1 + like(2); k > 0; --k) provides.insert(first + like(static_cast<std::uint64_t>(g)));
                if (const bool reaches_down = like(6) == 0; make.provides && reaches_down && first > 0)
                    provides.insert(first - 1 - like(2));
                for (const int goal : provides) needs.erase(goal);
                const double paid = make.ties ? 1 + like(3) : 1 + like(64), cost = make.free && like(3) == 0 ? 0 : paid;
                const std::vector<int> need_list(needs.begin(), needs.end()),
                    provide_list(provides.begin(), provides.end());
                problem.add_alternative(cost, need_list, provide_list);
            }
        }
    }
    problem.add_root(problem.goals() - 1);
    for (int more = below(3); more > 0; --more) problem.add_root(below(static_cast<std::uint64_t>(problem.goals())));
    return problem;
}

bool is_path(const SearchProblem& problem, const std::vector<int>& choices) {
    std::vector<int> choice(static_cast<std::size_t>(problem.goals()), -1);  // of each goal
    for (const int chosen : choices) {
        if (chosen < 0 || chosen >= problem.alternatives()) return false;
        int& only = choice[static_cast<std::size_t>(problem.goal_of(chosen))];
        if (only >= 0) return false;
        only = chosen;
    }
    std::set<int> wanted(problem.roots().begin(), problem.roots().end());
    std::vector<int> maker(choice.size(), -1);
    for (std::size_t g = choice.size(); g-- > 0;) {
        const int goal = static_cast<int>(g);
        const bool is_provided = maker[g] >= 0;
        if ((choice[g] >= 0) != (wanted.contains(goal) && !is_provided)) return false;
        if (choice[g] < 0) continue;
        maker[g] = goal;
        const Alternative alternative = problem.alternative(choice[g]);
        wanted.insert(alternative.needs.begin(), alternative.needs.end());
        for (const int also : alternative.provides) {
            if (maker[static_cast<std::size_t>(also)] >= 0) return false;
            maker[static_cast<std::size_t>(also)] = goal;
        }
    }
    // Topological order: repeatedly adds those whose needs have all been computed.
    std::set<int> waiting, made;
    for (std::size_t g = 0; g < choice.size(); ++g)
        if (choice[g] >= 0) waiting.insert(static_cast<int>(g));
    while (!waiting.empty()) {
        const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](int goal) {
            const auto needs = problem.alternative(choice[static_cast<std::size_t>(goal)]).needs;
            return std::all_of(needs.begin(), needs.end(),
                               [&](int need) { return made.contains(maker[static_cast<std::size_t>(need)]); });
        });
        if (ready == waiting.end()) return false;
        made.insert(*ready);
        waiting.erase(ready);
    }
    return true;
}

bool comes_first(const Path& a, const Path& b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    return std::lexicographical_compare(a.choices.rbegin(), a.choices.rend(), b.choices.rbegin(), b.choices.rend());
}

std::vector<Path> all_paths(const SearchProblem& problem) {
    std::vector<Path> paths;
    const auto count = static_cast<std::size_t>(problem.goals());
    std::vector<int> choice(count, -1), wanted(count, 0), provided(count, 0);
    for (const int root : problem.roots()) ++wanted[static_cast<std::size_t>(root)];
    const auto mark = [&](int chosen, int by) {
        const Alternative alternative = problem.alternative(chosen);
        for (const int need : alternative.needs) wanted[static_cast<std::size_t>(need)] += by;
        for (const int also : alternative.provides) provided[static_cast<std::size_t>(also)] += by;
    };
    const std::function<void(std::size_t)> decide = [&](std::size_t above) {
        if (above == 0) {
            Path path;
            for (const int chosen : choice)
                if (chosen >= 0) {
                    path.choices.push_back(chosen);
                    path.cost += problem.cost(chosen);
                }
            if (is_path(problem, path.choices)) paths.push_back(std::move(path));
            return;
        }
        const std::size_t goal = above - 1;
        if (wanted[goal] == 0 || provided[goal] > 0) return decide(goal);
        for (int chosen = problem.first(static_cast<int>(goal)); chosen < problem.first(static_cast<int>(above));
             ++chosen) {
            choice[goal] = chosen;
            mark(chosen, 1);
            decide(goal);
            mark(chosen, -1);
            choice[goal] = -1;
        }
    };
    decide(count);
    std::sort(paths.begin(), paths.end(), comes_first);
    return paths;
}

void for_each_enumerated_problem(const std::function<void(const EnumeratedProblem&)>& check) {
    int checked = 0, in_layers = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        RandomProblemOptions make;
        make.goals = 3 + static_cast<int>(seed % 5);
        make.alternatives = 11 + static_cast<int>(seed % 4);
        make.ties = seed % 3 == 0;
        make.only_along = seed % 4 == 1;
        if (seed % 2 == 1) {
            make.layers = 3 + static_cast<int>(seed / 8 % 2);
            make.goals = 5;
            make.alternatives = 9;
            make.provides = seed % 8 == 3;
            make.only_along = false;
        }
        const SearchProblem problem = random_problem(seed, make);
        const std::vector<Path> all = all_paths(problem);
        if (all.empty() || all.size() > 2000) continue;
        const Exploration found = explore(problem, {.only_cheapest = false});
        ASSERT_TRUE(found.exact);
        check({seed, problem, all, found});
        if (testing::Test::HasFatalFailure()) return;
        ++checked;
        in_layers += found.regions_solved < found.regions;
    }
    EXPECT_GT(checked, 300);
    EXPECT_GT(in_layers, 5);
}

}  // namespace cairn::search::test
