#include "tests/search/random_meeting.hpp"

#include "search/sides.hpp"

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

Meeting random_meeting(std::uint64_t seed) {
    Make make;
    make.goals = 2 + static_cast<int>(seed % 4);
    make.alternatives = make.goals + 3 + static_cast<int>(seed % 5);
    make.provides = seed % 2 == 1;
    make.ties = seed % 3 == 0;
    make.free = seed % 5 == 0;
    const int sides = 2 + static_cast<int>(seed % 2);
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    Meeting meeting;
    const int shared_goals = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < shared_goals; ++i) {
        meeting.problem.add_goal();
        meeting.problem.add_alternative(static_cast<double>(random() % 9) / 2, {}, {});
        meeting.side_of.push_back(shared);
    }
    for (int side = 0; side < sides; ++side) {
        const Problem own = random_problem(seed * 8 + static_cast<std::uint64_t>(side), make);
        const int base = meeting.problem.goals();
        const auto moved = [&](std::span<const int> goals) { return further_on(goals, base); };
        for (int goal = 0; goal < own.goals(); ++goal) {
            meeting.problem.add_goal();
            meeting.side_of.push_back(side);
            for (int choice = own.first(goal); choice < own.first(goal + 1); ++choice) {
                const Alternative alternative = own.alternative(choice);
                std::vector<int> needs = moved(alternative.needs);
                for (int i = 0; i < shared_goals; ++i)
                    if (random() % 3 == 0) needs.push_back(i);
                meeting.problem.add_alternative(alternative.cost, needs, moved(alternative.provides));
            }
        }
        for (const int root : own.roots()) meeting.problem.add_root(root + base);
    }
    return meeting;
}

Meeting layered_meeting(std::uint64_t seed, int layers) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    if (layers == 0) layers = 5 + static_cast<int>(seed % 5);
    const int sides = 2 + static_cast<int>(seed % 2);
    const int shared_goals = 1 + static_cast<int>(random() % 3);
    // One layer costs something else, or none does.
    const int odd = seed % 3 == 0 ? static_cast<int>(random() % static_cast<unsigned>(layers)) : -1;
    const auto pattern = static_cast<std::mt19937::result_type>(random());
    Make make;
    make.goals = 7;
    make.alternatives = 15;
    make.provides = seed % 4 == 1;
    make.ties = seed % 5 == 0;
    std::vector<Problem> parts;
    for (int side = 0; side < sides; ++side)
        parts.push_back(random_problem(seed * 8 + static_cast<std::uint64_t>(side), make));
    Meeting meeting;
    // What all layers may rest on.
    std::vector<std::vector<int>> ground(parts.size());
    if (seed % 7 < 2)
        for (std::size_t side = 0; side < parts.size(); ++side)
            for (int i = 0; i < 1; ++i) {
                ground[side].push_back(meeting.problem.add_goal());
                meeting.problem.add_alternative(static_cast<double>(random() % 5), {}, {});
                meeting.problem.add_alternative(static_cast<double>(random() % 5), {}, {});
                meeting.side_of.push_back(static_cast<int>(side));
            }
    std::vector<std::vector<int>> roots(parts.size());  // of the layer before
    int shared_before = -1;
    for (int layer = 0; layer < layers; ++layer) {
        std::mt19937 drawn(pattern);  // the same in all layers
        const int first_shared = meeting.problem.goals();
        for (int i = 0; i < shared_goals; ++i) {
            meeting.problem.add_goal();
            const double cost = static_cast<double>(drawn() % 9) / 2;
            meeting.problem.add_alternative(layer == odd && i == 0 && seed % 2 == 0 ? cost + 1 : cost, {}, {});
            meeting.side_of.push_back(shared);
        }
        for (std::size_t side = 0; side < parts.size(); ++side) {
            const Problem& own = parts[side];
            const int base = meeting.problem.goals();
            const auto moved = [&](std::span<const int> goals) { return further_on(goals, base); };
            for (int goal = 0; goal < own.goals(); ++goal) {
                meeting.problem.add_goal();
                meeting.side_of.push_back(static_cast<int>(side));
                for (int choice = own.first(goal); choice < own.first(goal + 1); ++choice) {
                    const Alternative alternative = own.alternative(choice);
                    std::vector<int> needs = moved(alternative.needs);
                    for (int i = 0; i < shared_goals; ++i) {
                        if (drawn() % 3 == 0) needs.push_back(first_shared + i);
                        if (drawn() % 9 == 0 && shared_before >= 0) needs.push_back(shared_before + i);
                    }
                    for (const int below : ground[side])
                        if (drawn() % 6 == 0) needs.push_back(below);
                    if (alternative.needs.empty()) needs.insert(needs.end(), roots[side].begin(), roots[side].end());
                    const bool is_odd = layer == odd && seed % 2 == 1 && choice == 0 && side == 0;
                    meeting.problem.add_alternative(alternative.cost + (is_odd ? 1 : 0), needs,
                                                    moved(alternative.provides));
                }
            }
            roots[side] = moved(own.roots());
        }
        shared_before = first_shared;
    }
    for (std::size_t side = 0; side < parts.size(); ++side)
        if (ground[side].empty()) {
            for (const int root : roots[side]) meeting.problem.add_root(root);
        } else {
            std::vector<int> needs = roots[side];
            meeting.problem.add_root(meeting.problem.add_goal());
            meeting.problem.add_alternative(2, needs, {});
            needs.push_back(ground[side][0]);
            meeting.problem.add_alternative(1, needs, {});
            meeting.side_of.push_back(static_cast<int>(side));
        }
    return meeting;
}

Meeting layers_of_forms(std::uint64_t seed, int layers, int weights, int forms, int sides) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    std::uniform_real_distribution<double> real(1, 2);
    Meeting meeting;
    std::vector<int> last(static_cast<std::size_t>(sides), -1);
    for (int layer = 0; layer < layers; ++layer) {
        const int first = meeting.problem.goals();
        for (int i = 0; i < weights * forms; ++i) {
            meeting.problem.add_goal();
            meeting.problem.add_alternative(0.4, {}, {});
            meeting.side_of.push_back(shared);
        }
        for (int side = 0; side < sides; ++side)
            for (int weight = 0; weight < weights; ++weight) {
                int& before = last[static_cast<std::size_t>(side)];
                const int goal = meeting.problem.add_goal();
                meeting.side_of.push_back(side);
                for (int form = 0; form < forms; ++form) {
                    std::vector<int> needs{first + weight * forms + form};
                    if (before >= 0) needs.push_back(before);
                    meeting.problem.add_alternative(real(random), needs, {});
                }
                before = goal;
            }
    }
    for (const int goal : last) meeting.problem.add_root(goal);
    return meeting;
}

Meeting layers_without_a_form_for_all(std::uint64_t seed, int layers) {
    constexpr int sides = 3;
    Meeting meeting;
    const auto add = [&](int side) {
        meeting.side_of.push_back(side);
        return meeting.problem.add_goal();
    };
    std::vector<std::vector<int>> before(sides);
    for (int layer = 0; layer < layers; ++layer) {
        std::mt19937 random(static_cast<std::mt19937::result_type>(seed));  // the same in all layers
        const auto below = [&](double most) { return most * static_cast<double>(random() % 1024) / 1024; };
        const int first = meeting.problem.goals();
        for (int form = 0; form < sides; ++form) {
            add(shared);
            meeting.problem.add_alternative(1 + below(0.3), {}, {});
        }
        for (int side = 0; side < sides; ++side) {
            std::vector<int>& last = before[static_cast<std::size_t>(side)];
            // Each goal has two users, so none is taken into another one.
            const int reader = add(side);
            for (const int form : {side, (side + 1) % sides}) {
                std::vector<int> needs = last;
                needs.push_back(first + form);
                meeting.problem.add_alternative(below(0.3), needs, {});
            }
            const int beside = add(side);
            meeting.problem.add_alternative(0, last, {});
            last.clear();
            for (int i = 0; i < 2; ++i) {
                last.push_back(add(side));
                meeting.problem.add_alternative(0, {reader, beside}, {});
            }
        }
    }
    for (const std::vector<int>& last : before)
        for (const int root : last) meeting.problem.add_root(root);
    return meeting;
}

Meeting with_a_side_too_large() {
    Meeting meeting = layers_of_forms(9, 4, 5, 4, 3);
    std::fill(meeting.side_of.begin(), meeting.side_of.end(), 0);
    meeting.problem.add_root(meeting.problem.add_goal());
    meeting.problem.add_alternative(1, {}, {});
    meeting.side_of.push_back(1);
    return meeting;
}

void expect_the_cheapest(const std::function<Exploration(const Meeting&)>& search,
                         const std::function<Status(const Exploration& whole)>& without) {
    int with_path = 0, pathless = 0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        const Meeting meeting = seed < 3000 ? random_meeting(seed) : layered_meeting(seed);
        const Problem& problem = meeting.problem;
        ASSERT_EQ(fault(problem), "");
        ASSERT_EQ(fault_of_sides(problem, meeting.side_of), "");
        const Exploration whole = explore(problem);
        ASSERT_TRUE(whole.exact);
        const Exploration apart = search(meeting);
        if (whole.status != Status::found) {
            ASSERT_EQ(apart.status, without(whole)) << "seed " << seed;
            ++pathless;
            continue;
        }
        ++with_path;
        ASSERT_EQ(apart.status, Status::found) << "seed " << seed;
        EXPECT_TRUE(apart.exact) << "seed " << seed << ": it is known that nothing is cheaper";
        const Path path = apart.space.cheapest(apart.paths);
        EXPECT_TRUE(is_path(problem, path.choices)) << "seed " << seed;
        EXPECT_NEAR(path.cost, whole.space.cost(whole.paths), 1e-12 * path.cost) << "seed " << seed;
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(with_path, 1000);
    EXPECT_GT(pathless, 100);
}

}  // namespace cairn::search::test
