#include "tests/selection/search/random_decomposition.hpp"

#include "selection/search/decomposition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cairn::search::test {
namespace {

std::vector<int> further_on(std::span<const int> goals, int by) {
    std::vector<int> result;
    for (const int goal : goals) result.push_back(goal + by);
    return result;
}

}  // namespace

DecomposedProblem random_decomposition(std::uint64_t seed) {
    RandomProblemOptions make;
    make.goals = 2 + static_cast<int>(seed % 4);
    make.alternatives = make.goals + 3 + static_cast<int>(seed % 5);
    make.provides = seed % 2 == 1;
    make.ties = seed % 3 == 0;
    make.free = seed % 5 == 0;
    const int subproblems = 2 + static_cast<int>(seed % 2);
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    DecomposedProblem decomposed;
    const int shared_goals = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < shared_goals; ++i) {
        decomposed.problem.add_goal();
        decomposed.problem.add_alternative(static_cast<double>(random() % 9) / 2, {}, {});
        decomposed.subproblem_of.push_back(shared);
    }
    for (int subproblem = 0; subproblem < subproblems; ++subproblem) {
        const SearchProblem own = random_problem(seed * 8 + static_cast<std::uint64_t>(subproblem), make);
        const int base = decomposed.problem.goals();
        const auto moved = [&](std::span<const int> goals) { return further_on(goals, base); };
        for (int goal = 0; goal < own.goals(); ++goal) {
            decomposed.problem.add_goal();
            decomposed.subproblem_of.push_back(subproblem);
            for (int choice = own.first(goal); choice < own.first(goal + 1); ++choice) {
                const Alternative alternative = own.alternative(choice);
                std::vector<int> needs = moved(alternative.needs);
                for (int i = 0; i < shared_goals; ++i)
                    if (random() % 3 == 0) needs.push_back(i);
                decomposed.problem.add_alternative(alternative.cost, needs, moved(alternative.provides));
            }
        }
        for (const int root : own.roots()) decomposed.problem.add_root(root + base);
    }
    return decomposed;
}

DecomposedProblem layered_decomposition(std::uint64_t seed, int layers) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    if (layers == 0) layers = 5 + static_cast<int>(seed % 5);
    const int subproblems = 2 + static_cast<int>(seed % 2);
    const int shared_goals = 1 + static_cast<int>(random() % 3);
    // One layer has another cost, or none has.
    const int odd = seed % 3 == 0 ? static_cast<int>(random() % static_cast<unsigned>(layers)) : -1;
    const auto pattern = static_cast<std::mt19937::result_type>(random());
    RandomProblemOptions make;
    make.goals = 7;
    make.alternatives = 15;
    make.provides = seed % 4 == 1;
    make.ties = seed % 5 == 0;
    std::vector<SearchProblem> parts;
    for (int subproblem = 0; subproblem < subproblems; ++subproblem)
        parts.push_back(random_problem(seed * 8 + static_cast<std::uint64_t>(subproblem), make));
    DecomposedProblem decomposed;
    // Goals that all layers may depend on.
    std::vector<std::vector<int>> ground(parts.size());
    if (seed % 7 < 2)
        for (std::size_t subproblem = 0; subproblem < parts.size(); ++subproblem)
            for (int i = 0; i < 1; ++i) {
                ground[subproblem].push_back(decomposed.problem.add_goal());
                decomposed.problem.add_alternative(static_cast<double>(random() % 5), {}, {});
                decomposed.problem.add_alternative(static_cast<double>(random() % 5), {}, {});
                decomposed.subproblem_of.push_back(static_cast<int>(subproblem));
            }
    std::vector<std::vector<int>> roots(parts.size());  // of the layer before
    int shared_before = -1;
    for (int layer = 0; layer < layers; ++layer) {
        std::mt19937 drawn(pattern);  // the same in all layers
        const int first_shared = decomposed.problem.goals();
        for (int i = 0; i < shared_goals; ++i) {
            decomposed.problem.add_goal();
            const double cost = static_cast<double>(drawn() % 9) / 2;
            decomposed.problem.add_alternative(layer == odd && i == 0 && seed % 2 == 0 ? cost + 1 : cost, {}, {});
            decomposed.subproblem_of.push_back(shared);
        }
        for (std::size_t subproblem = 0; subproblem < parts.size(); ++subproblem) {
            const SearchProblem& own = parts[subproblem];
            const int base = decomposed.problem.goals();
            const auto moved = [&](std::span<const int> goals) { return further_on(goals, base); };
            for (int goal = 0; goal < own.goals(); ++goal) {
                decomposed.problem.add_goal();
                decomposed.subproblem_of.push_back(static_cast<int>(subproblem));
                for (int choice = own.first(goal); choice < own.first(goal + 1); ++choice) {
                    const Alternative alternative = own.alternative(choice);
                    std::vector<int> needs = moved(alternative.needs);
                    for (int i = 0; i < shared_goals; ++i) {
                        if (drawn() % 3 == 0) needs.push_back(first_shared + i);
                        if (drawn() % 9 == 0 && shared_before >= 0) needs.push_back(shared_before + i);
                    }
                    for (const int below : ground[subproblem])
                        if (drawn() % 6 == 0) needs.push_back(below);
                    if (alternative.needs.empty())
                        needs.insert(needs.end(), roots[subproblem].begin(), roots[subproblem].end());
                    const bool is_odd = layer == odd && seed % 2 == 1 && choice == 0 && subproblem == 0;
                    decomposed.problem.add_alternative(alternative.cost + (is_odd ? 1 : 0), needs,
                                                       moved(alternative.provides));
                }
            }
            roots[subproblem] = moved(own.roots());
        }
        shared_before = first_shared;
    }
    for (std::size_t subproblem = 0; subproblem < parts.size(); ++subproblem)
        if (ground[subproblem].empty()) {
            for (const int root : roots[subproblem]) decomposed.problem.add_root(root);
        } else {
            std::vector<int> needs = roots[subproblem];
            decomposed.problem.add_root(decomposed.problem.add_goal());
            decomposed.problem.add_alternative(2, needs, {});
            needs.push_back(ground[subproblem][0]);
            decomposed.problem.add_alternative(1, needs, {});
            decomposed.subproblem_of.push_back(static_cast<int>(subproblem));
        }
    return decomposed;
}

DecomposedProblem layers_of_forms(std::uint64_t seed, int layers, int weights, int forms, int subproblems) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    std::uniform_real_distribution<double> real(1, 2);
    DecomposedProblem decomposed;
    std::vector<int> last(static_cast<std::size_t>(subproblems), -1);
    for (int layer = 0; layer < layers; ++layer) {
        const int first = decomposed.problem.goals();
        for (int i = 0; i < weights * forms; ++i) {
            decomposed.problem.add_goal();
            decomposed.problem.add_alternative(0.4, {}, {});
            decomposed.subproblem_of.push_back(shared);
        }
        for (int subproblem = 0; subproblem < subproblems; ++subproblem)
            for (int weight = 0; weight < weights; ++weight) {
                int& before = last[static_cast<std::size_t>(subproblem)];
                const int goal = decomposed.problem.add_goal();
                decomposed.subproblem_of.push_back(subproblem);
                for (int form = 0; form < forms; ++form) {
                    std::vector<int> needs{first + weight * forms + form};
                    if (before >= 0) needs.push_back(before);
                    decomposed.problem.add_alternative(real(random), needs, {});
                }
                before = goal;
            }
    }
    for (const int goal : last) decomposed.problem.add_root(goal);
    return decomposed;
}

DecomposedProblem layers_without_a_form_for_all(std::uint64_t seed, int layers) {
    constexpr int subproblems = 3;
    DecomposedProblem decomposed;
    const auto add = [&](int subproblem) {
        decomposed.subproblem_of.push_back(subproblem);
        return decomposed.problem.add_goal();
    };
    std::vector<std::vector<int>> before(subproblems);
    for (int layer = 0; layer < layers; ++layer) {
        std::mt19937 random(static_cast<std::mt19937::result_type>(seed));  // the same in all layers
        const auto below = [&](double most) { return most * static_cast<double>(random() % 1024) / 1024; };
        const int first = decomposed.problem.goals();
        for (int form = 0; form < subproblems; ++form) {
            add(shared);
            decomposed.problem.add_alternative(1 + below(0.3), {}, {});
        }
        for (int subproblem = 0; subproblem < subproblems; ++subproblem) {
            std::vector<int>& last = before[static_cast<std::size_t>(subproblem)];
            // Each goal has two users, so none is inlined.
            const int reader = add(subproblem);
            for (const int form : {subproblem, (subproblem + 1) % subproblems}) {
                std::vector<int> needs = last;
                needs.push_back(first + form);
                decomposed.problem.add_alternative(below(0.3), needs, {});
            }
            const int beside = add(subproblem);
            decomposed.problem.add_alternative(0, last, {});
            last.clear();
            for (int i = 0; i < 2; ++i) {
                last.push_back(add(subproblem));
                decomposed.problem.add_alternative(0, {reader, beside}, {});
            }
        }
    }
    for (const std::vector<int>& last : before)
        for (const int root : last) decomposed.problem.add_root(root);
    return decomposed;
}

DecomposedProblem with_a_subproblem_too_large() {
    DecomposedProblem decomposed = layers_of_forms(9, 4, 5, 4, 3);
    std::fill(decomposed.subproblem_of.begin(), decomposed.subproblem_of.end(), 0);
    decomposed.problem.add_root(decomposed.problem.add_goal());
    decomposed.problem.add_alternative(1, {}, {});
    decomposed.subproblem_of.push_back(1);
    return decomposed;
}

void expect_the_cheapest(const std::function<Exploration(const DecomposedProblem&)>& search,
                         const std::function<Status(const Exploration& whole)>& without) {
    int with_path = 0, pathless = 0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        const DecomposedProblem decomposed = seed < 3000 ? random_decomposition(seed) : layered_decomposition(seed);
        const SearchProblem& problem = decomposed.problem;
        ASSERT_EQ(fault(problem), "");
        ASSERT_EQ(fault_of_decomposition(problem, decomposed.subproblem_of), "");
        const Exploration whole = explore(problem);
        ASSERT_TRUE(whole.exact);
        const Exploration apart = search(decomposed);
        if (whole.status != Status::found) {
            ASSERT_EQ(apart.status, without(whole)) << "seed " << seed;
            ++pathless;
            continue;
        }
        ++with_path;
        ASSERT_EQ(apart.status, Status::found) << "seed " << seed;
        EXPECT_TRUE(apart.exact) << "seed " << seed << ": it is known that nothing is cheaper";
        const Path path = apart.dag.cheapest(apart.paths);
        EXPECT_TRUE(is_path(problem, path.choices)) << "seed " << seed;
        EXPECT_NEAR(path.cost, whole.dag.cost(whole.paths), 1e-12 * path.cost) << "seed " << seed;
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(with_path, 1000);
    EXPECT_GT(pathless, 100);
}

}  // namespace cairn::search::test
