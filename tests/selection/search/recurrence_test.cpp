#include "selection/search/recurrence.hpp"

#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace cairn::search::test {
namespace {

// Goal 0, then four blocks of three goals and five choices, from goal 1 and choice 2 on.
constexpr RepeatedBlocks repeat{1, 3, 2, 5, 4, 9};

PresolvedProblem reduced_of(std::vector<int> roots) {
    PresolvedProblem presolved;
    for (int goal = 0; goal < 13; ++goal) {
        presolved.problem.add_goal();
        presolved.goals.push_back(goal);
    }
    for (const int root : roots) presolved.problem.add_root(root);
    return presolved;
}

/// A chain through all blocks, each a region that references goal 0 and the highest goal of the block below.
struct Chain {
    std::vector<int> roots = {12};
    std::function<void(int block, RegionForm&)> change = [](int, RegionForm&) {};
    std::function<void(int block, std::vector<State>&)> leave = [](int, std::vector<State>&) {};
    bool is_solved_alike = true;
    int lowest = 1;  // of the blocks crossed

    /// At the border below each block, from the highest down.
    std::vector<std::optional<std::size_t>> run() const {
        const PresolvedProblem presolved = reduced_of(roots);
        Recurrence recurrence(presolved, repeat);
        std::vector<std::optional<std::size_t>> found;
        std::vector<RegionForm> forms(4);
        for (int block = 3; block >= lowest; --block) {
            RegionForm& form = forms[static_cast<std::size_t>(block)];
            form = {repeat.low_of(block), repeat.low_of(block + 1), {0, repeat.low_of(block) - 1}, {}, {}};
            for (const int choice : {3, 1, 4}) form.choices.push_back(repeat.first + block * 5 + choice);
            change(block, form);
            recurrence.pass(form, is_solved_alike ? forms[3] : form);
            const int last = repeat.low_of(block) - 1;
            std::vector<State> states{{pending(last), pending(0)}, {provided(last)}};
            leave(block, states);
            found.push_back(recurrence.at(repeat.low_of(block), states, static_cast<std::size_t>(10 - block)));
        }
        return found;
    }
    bool comes_again() const { return run().back().has_value(); }
};

TEST(Recurrence, ABlockThatWasCrossedAlikeIsTold) {
    const auto found = Chain().run();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_FALSE(found[0]);
    EXPECT_FALSE(found[1]);  // below two blocks there is no record of the border above both
    EXPECT_EQ(found[2], 8u);
}

TEST(Recurrence, WhatDiffersDoesNotComeAgain) {
    Chain chain;
    EXPECT_TRUE(chain.comes_again());
    chain.is_solved_alike = false;
    EXPECT_FALSE(chain.comes_again());
    const auto is_changed_by = [](auto change) {
        Chain other;
        other.change = [change](int block, RegionForm& form) {
            if (block == 1) change(form);
        };
        return !other.comes_again();
    };
    EXPECT_TRUE(is_changed_by([](RegionForm& form) { form.ports[1] -= 1; }));
    EXPECT_TRUE(is_changed_by([](RegionForm& form) { form.ports[0] = form.ports[1]; }));
    EXPECT_TRUE(is_changed_by([](RegionForm& form) { std::swap(form.choices[0], form.choices[1]); }));
    EXPECT_TRUE(is_changed_by([](RegionForm& form) { form.ports.pop_back(); }));
    EXPECT_FALSE(is_changed_by([](RegionForm&) {}));
    const auto is_left_by = [](auto leave) {
        Chain other;
        other.leave = [leave](int block, std::vector<State>& states) {
            if (block == 1) leave(states);
        };
        return !other.comes_again();
    };
    EXPECT_TRUE(is_left_by([](std::vector<State>& states) { states.pop_back(); }));
    EXPECT_TRUE(is_left_by([](std::vector<State>& states) { states[1] = {pending(0)}; }));
    EXPECT_TRUE(is_left_by([](std::vector<State>& states) { states[1][0] ^= 1; }));
    EXPECT_TRUE(is_left_by([](std::vector<State>& states) { std::swap(states[0], states[1]); }));
    EXPECT_FALSE(is_left_by([](std::vector<State>&) {}));
}

// A repeated block lies between others of equal costs.
TEST(Recurrence, TheLowestBlockIsNotCrossedAgain) {
    Chain chain;
    chain.lowest = 0;
    chain.change = [](int, RegionForm& form) { form.ports = {0}; };
    chain.leave = [](int, std::vector<State>& states) { states = {{pending(0)}}; };
    const auto found = chain.run();
    ASSERT_EQ(found.size(), 4u);
    EXPECT_TRUE(found[2]);
    EXPECT_FALSE(found[3]);
}

TEST(Recurrence, RootsComeAgainToo) {
    Chain chain;
    chain.roots = {12, 5};
    EXPECT_FALSE(chain.comes_again());
    chain.roots = {12, 8, 5};
    EXPECT_TRUE(chain.comes_again());
}

}  // namespace
}  // namespace cairn::search::test
