#include "program/memory_plan/relation.hpp"

#include "tests/program/memory_plan/packing_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace cairn::memory_plan {
namespace {

using ::testing::ElementsAre;

Relation frozen(const PackingProblem& problem, std::vector<int> order) {
    Relation relation{std::move(order), {}, {}};
    const LiveIntervals intervals(problem);
    RelationBuilder(problem, intervals).build(relation);
    return relation;
}

// reach[a][b]: a lies below b.
std::vector<std::vector<char>> closure(const Relation& relation) {
    const std::size_t n = relation.order.size();
    std::vector<std::vector<char>> reach(n, std::vector<char>(n, 0));
    for (std::size_t p = 0; p < n; ++p) {
        const int b = relation.order[p];
        for (int e = relation.start[p]; e < relation.start[p + 1]; ++e) {
            const int a = relation.below[e];
            reach[a][b] = 1;
            for (std::size_t k = 0; k < n; ++k) reach[k][b] = static_cast<char>(reach[k][b] | reach[k][a]);
        }
    }
    return reach;
}

TEST(Relation, NeighboursInTheStackGetAnEdge) {
    const Relation relation = frozen(testing::problem_of({{4, 0, 0}, {2, 0, 0}, {3, 0, 0}}), {0, 1, 2});
    EXPECT_THAT(relation.start, ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(relation.below, ElementsAre(0, 1));
}

TEST(Relation, OrdersExactlyTheOverlappingBuffers) {
    std::mt19937 random(7);
    for (int round = 0; round < 100; ++round) {
        const PackingProblem problem = testing::random_problem(random, 25, 20, 1, 50, 1);
        std::vector<int> order(25), position(25);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (int p = 0; p < 25; ++p) position[order[p]] = p;
        const Relation relation = frozen(problem, order);
        EXPECT_LE(relation.below.size(), 50U);
        const auto reach = closure(relation);
        for (int a = 0; a < 25; ++a) {
            for (int b = 0; b < 25; ++b) {
                const bool together = testing::alive_together(problem.buffers[a], problem.buffers[b]);
                if (together && position[a] < position[b]) { EXPECT_TRUE(reach[a][b]) << a << " below " << b; }
            }
        }
        for (std::size_t p = 0; p < 25; ++p) {
            for (int e = relation.start[p]; e < relation.start[p + 1]; ++e) {
                EXPECT_TRUE(
                    testing::alive_together(problem.buffers[relation.below[e]], problem.buffers[relation.order[p]]));
            }
        }
    }
}

TEST(Relation, ReduceDropsImpliedAndDuplicateEdges) {
    const Relation reduced = transitive_reduction({{2, 0, 1}, {0, 0, 2, 5}, {2, 2, 0, 2, 0}});
    EXPECT_THAT(reduced.start, ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(reduced.below, ElementsAre(2, 0));
}

TEST(Relation, ReduceKeepsTheClosureWithoutRedundantEdges) {
    std::mt19937 random(11);
    // 1500 buffers: the reduction works in blocks of 1024.
    for (const int n : {1, 30, 1500}) {
        const PackingProblem problem = testing::random_problem(random, n, n, 1, 50, 1);
        std::vector<int> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const Relation full = frozen(problem, order);
        const Relation reduced = transitive_reduction(full);
        const auto reach = closure(full);
        EXPECT_EQ(closure(reduced), reach);
        EXPECT_LE(reduced.below.size(), full.below.size());
        for (std::size_t p = 0; p < order.size(); ++p) {
            for (int e = reduced.start[p]; e < reduced.start[p + 1]; ++e) {
                for (int f = reduced.start[p]; f < reduced.start[p + 1]; ++f) {
                    EXPECT_FALSE(reach[reduced.below[e]][reduced.below[f]]) << "an edge that follows from another";
                    EXPECT_FALSE(e != f && reduced.below[e] == reduced.below[f]);
                }
            }
        }
    }
}

TEST(Relation, EvaluateReturnsTheAlignedHighestEndBelow) {
    PackingProblem problem{{{{10, 100}, 1, 0, 0}, {{20, 1}, 1, 0, 0}, {{5, 5}, 64, 0, 0}}, 2};
    const LiveIntervals intervals(problem);
    const Sizes sizes = sizes_of(problem, lower_bounds(problem, intervals));
    Evaluator evaluator(problem, sizes);
    evaluator.evaluate({{0, 1, 2}, {0, 0, 0, 2}, {0, 1}});
    EXPECT_EQ(evaluator.offset(0, 0), 0);
    EXPECT_EQ(evaluator.offset(2, 0), 64);
    EXPECT_EQ(evaluator.offset(2, 1), 128);
    EXPECT_EQ(evaluator.end(2, 1), 133);
    EXPECT_THAT(evaluator.height(), ElementsAre(69, 133));
}

}  // namespace
}  // namespace cairn::memory_plan
