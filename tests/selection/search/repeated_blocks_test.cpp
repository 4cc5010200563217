#include "selection/search/repeated_blocks.hpp"

#include "selection/search/decomposition.hpp"
#include "selection/search/explore.hpp"
#include "tests/selection/search/random_decomposition.hpp"
#include "tests/selection/search/random_problem.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace cairn::search::test {
namespace {

/// Goal 0 below, layers of two goals, one above: each layer depends on the one below it, and on goal 0.
SearchProblem equal_layers(int layers, double top = 7) {
    SearchProblem problem;
    problem.add_goal();
    problem.add_alternative(9, {}, {});
    int last = 0;
    for (int layer = 0; layer < layers; ++layer) {
        const int first = problem.add_goal();
        problem.add_alternative(1, {last}, {});
        problem.add_alternative(2, {0}, {});
        problem.add_goal();
        problem.add_alternative(layer + 1 == layers ? top : 3, {0, first}, {});
        last = first + 1;
    }
    problem.add_root(problem.add_goal());
    problem.add_alternative(5, {last}, {});
    return problem;
}

std::vector<int> one_side(const SearchProblem& problem) {
    return std::vector<int>(static_cast<std::size_t>(problem.goals()), 0);
}

/// The members of RepeatedBlocks, for comparison.
std::vector<int> numbers(const RepeatedBlocks& repeat) {
    return {repeat.low, repeat.goals, repeat.first, repeat.choices, repeat.blocks, repeat.omitted};
}

TEST(RepeatedBlocks, EqualLayersAreFound) {
    // The first layer references goal 0 twice: as the goal below it, and as the goal common to all.
    const SearchProblem problem = equal_layers(8);
    const RepeatedBlocks repeat = find_repeated_blocks(problem, one_side(problem));
    EXPECT_EQ(repeat.goals, 2);
    EXPECT_EQ(repeat.choices, 3);
    EXPECT_GE(repeat.blocks, 5);
    EXPECT_EQ(repeat.omitted, 0);
    for (const int layers : {0, 1}) {
        const SearchProblem few = equal_layers(layers);
        EXPECT_EQ(find_repeated_blocks(few, one_side(few)).blocks, 0) << layers;
    }
}

TEST(RepeatedBlocks, WhatDiffersIsNoBlock) {
    const auto blocks = [](const SearchProblem& problem, std::vector<int> subproblems) {
        return find_repeated_blocks(problem, subproblems).blocks;
    };
    SearchProblem problem = equal_layers(9);
    const int all = blocks(problem, one_side(problem));
    EXPECT_EQ(blocks(equal_layers(9, 3), one_side(problem)), all + 1);
    // Another cost, another subproblem, a root, and a goal above that depends on a layer in the middle.
    SearchProblem other = problem;
    other.set_cost(problem.first(9), 4);
    EXPECT_LE(blocks(other, one_side(problem)), all / 2 + 1);
    std::vector<int> subproblems = one_side(problem);
    subproblems[9] = 1;
    EXPECT_LE(blocks(problem, subproblems), all / 2 + 1);
    other = problem;
    other.add_root(9);
    EXPECT_LE(blocks(other, one_side(problem)), all / 2 + 1);
    other = problem;
    other.add_goal();
    other.add_alternative(1, {9}, {});
    const RepeatedBlocks cut = find_repeated_blocks(other, one_side(other));
    EXPECT_TRUE(cut.blocks == 0 || cut.low_of(cut.blocks - 1) <= 9) << cut.low << " " << cut.blocks;
}

TEST(RepeatedBlocks, ChoicesAreNumberedInFull) {
    // Choices 5 to 16 are those of four blocks of three; six more blocks are omitted.
    const RepeatedBlocks repeat{2, 2, 5, 3, 4, 6};
    const auto written = [&](int unfolded_choice) { return repeat.written(unfolded_choice); };
    EXPECT_EQ(written(4), std::pair(4, 0));
    EXPECT_EQ(written(16), std::pair(16, 0));
    EXPECT_EQ(written(17), std::pair(14, 1));
    EXPECT_EQ(written(34), std::pair(16, 6));
    EXPECT_EQ(written(35), std::pair(17, 6));
    EXPECT_EQ(written(40), std::pair(22, 6));
    for (int unfolded_choice = 0; unfolded_choice < 50; ++unfolded_choice) {
        const auto [choice, up] = written(unfolded_choice);
        EXPECT_EQ(repeat.unfolded_choice(choice, up), unfolded_choice);
    }
    EXPECT_EQ(repeat.unfolded_choice(4, 6), 4);
    int goals = 0;
    for (int goal = 2; goal < 10; ++goal) goals += repeat.multiplicity(goal);
    EXPECT_EQ(goals, (4 + 6) * 2);
    EXPECT_EQ(RepeatedBlocks().written(7), std::pair(7, 0));
}

TEST(RepeatedBlocks, FoldedProblemsAreShorterOnes) {
    const SearchProblem problem = equal_layers(20);
    const RepeatedBlocks repeat = find_repeated_blocks(problem, one_side(problem));
    const Folded few = folded(problem, one_side(problem), repeat, 4);
    EXPECT_EQ(to_string(few.problem), to_string(equal_layers(20 - (repeat.blocks - 4))));
    EXPECT_EQ(few.subproblem_of.size(), static_cast<std::size_t>(few.problem.goals()));
    EXPECT_EQ(few.repeat.blocks + few.repeat.omitted, repeat.blocks);
}

TEST(RepeatedBlocks, WhatIsLeftOfBlocksIsTold) {
    const SearchProblem problem = equal_layers(12);
    const Folded few = folded(problem, one_side(problem), find_repeated_blocks(problem, one_side(problem)), 5);
    const auto left = [&](auto has_goal, auto has_choice) {
        return remaining_repeated_blocks(induced_problem(few.problem, has_goal, has_choice), few.repeat);
    };
    const auto all = [](int) { return true; };
    const auto whole = left(all, all);
    ASSERT_TRUE(whole);
    EXPECT_EQ(numbers(*whole), numbers(few.repeat));
    // Without one alternative of each block, of the lowest block alone, of one in the middle.
    const auto in_block = [&](int choice) { return (choice - few.repeat.first) / few.repeat.choices; };
    const auto is_first = [&](int choice) {
        return choice >= few.repeat.first && (choice - few.repeat.first) % few.repeat.choices == 0;
    };
    const int end = few.repeat.first + few.repeat.blocks * few.repeat.choices;
    const auto of_each = left(all, [&](int choice) { return !is_first(choice) || choice >= end; });
    ASSERT_TRUE(of_each);
    EXPECT_EQ(of_each->choices, few.repeat.choices - 1);
    EXPECT_EQ(of_each->blocks, few.repeat.blocks);
    const auto of_lowest = left(all, [&](int choice) { return !is_first(choice) || in_block(choice) != 0; });
    ASSERT_TRUE(of_lowest);
    EXPECT_EQ(of_lowest->blocks, few.repeat.blocks - 1);
    EXPECT_EQ(of_lowest->low, few.repeat.low_of(1));
    EXPECT_FALSE(left(all, [&](int choice) { return !is_first(choice) || in_block(choice) != 2 || choice >= end; }));
    // Of two equal alternatives, one block keeps another one than the others.
    SearchProblem twins;
    for (int goal = 0; goal < 8; ++goal) {
        const std::vector<int> needs = goal == 0 ? std::vector<int>() : std::vector<int>{goal - 1};
        twins.add_goal();
        for (int i = 0; i < 2; ++i) twins.add_alternative(1, needs, {});
    }
    RepeatedBlocks of_twins = find_repeated_blocks(twins, one_side(twins));
    ASSERT_GE(of_twins.blocks, 6);
    of_twins.omitted = 1;
    const auto without = [&](int left_out) {
        const auto is_kept = [&](int choice) { return choice % 2 == 0 ? choice != left_out : choice == left_out + 1; };
        return remaining_repeated_blocks(induced_problem(twins, all, is_kept), of_twins);
    };
    ASSERT_TRUE(without(-2));
    ASSERT_TRUE(without(8));
    EXPECT_EQ(without(8)->blocks, 3);
    EXPECT_EQ(without(-2)->blocks, of_twins.blocks);
    // No goal of any block.
    const auto none = left([&](int goal) { return goal < few.repeat.low; }, all);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->any());
}

// Compares the search with one without omitted blocks: first jointly, then by subproblems.
TEST(RepeatedBlocks, WhatIsNotThereIsSearchedAsIfItWere) {
    int with_blocks = 0, crossed = 0, with_path = 0;
    for (std::uint64_t seed = 0; seed < 900; ++seed) {
        const DecomposedProblem decomposed = layered_decomposition(seed, 9 + static_cast<int>(seed % 11));
        ASSERT_EQ(fault(decomposed.problem), "") << seed;
        const Exploration whole = explore(decomposed.problem);
        ASSERT_TRUE(whole.exact) << seed;
        const bool has_path = whole.status == Status::found;
        with_path += has_path ? 1 : 0;
        if (const RepeatedBlocks repeat = find_repeated_blocks(decomposed.problem, decomposed.subproblem_of);
            repeat.blocks > 6) {
            ++with_blocks;
            const Folded few = folded(decomposed.problem, decomposed.subproblem_of, repeat, 6);
            ASSERT_EQ(fault(few.problem), "") << seed;
            for (const bool only_cheapest : {true, false}) {
                Options options;
                options.only_cheapest = only_cheapest;
                options.only_exact = true;
                options.repeat = few.repeat;
                const Exploration found = explore(few.problem, options);
                if (found.status != Status::found) continue;
                ++crossed;
                ASSERT_TRUE(has_path) << seed;
                ASSERT_EQ(fault(found.dag, found.paths), "") << seed;
                const Path path = found.dag.cheapest(found.paths);
                EXPECT_NEAR(path.cost, whole.dag.cost(whole.paths), 1e-9) << seed;
                EXPECT_TRUE(is_path(decomposed.problem, path.choices)) << seed;
            }
        }
        const Exploration apart = explore_decomposed(decomposed.problem, decomposed.subproblem_of);
        ASSERT_EQ(apart.status, whole.status) << seed;
        if (!has_path) continue;
        const Path path = apart.dag.cheapest(apart.paths);
        EXPECT_TRUE(is_path(decomposed.problem, path.choices)) << seed;
        EXPECT_NEAR(path.cost, whole.dag.cost(whole.paths), 1e-9) << seed;
    }
    // The test must cover enough cases.
    EXPECT_GT(with_path, 600);
    EXPECT_GT(with_blocks, 500);
    EXPECT_GT(crossed, 400);
}

// Each of these seeds gives equal layers.
TEST(RepeatedBlocks, SearchTakesNoLongerForMoreLayers) {
    for (const std::uint64_t seed : {2, 4, 8, 10, 11, 16}) {
        const auto work = [&](int layers, bool is_alone) {
            auto [problem, subproblem_of] = layered_decomposition(seed, layers);
            if (is_alone) std::fill(subproblem_of.begin(), subproblem_of.end(), 0);
            const Exploration found = explore_decomposed(problem, subproblem_of);
            EXPECT_EQ(found.status, Status::found);
            EXPECT_TRUE(is_path(problem, found.dag.cheapest(found.paths).choices)) << seed;
            return std::tuple(found.states, found.work, found.border_work);
        };
        for (const bool is_alone : {false, true}) EXPECT_EQ(work(20, is_alone), work(90, is_alone)) << seed;
    }
}

}  // namespace
}  // namespace cairn::search::test
