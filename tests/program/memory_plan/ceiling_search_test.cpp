#include "program/memory_plan/ceiling_search.hpp"

#include "bench/graph_buffers.hpp"
#include "program/memory_plan/placement_orders.hpp"
#include "tests/program/memory_plan/section_problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::memory_plan {
namespace {

/// A search that lowers the plan by first fit in the order of creation.
struct Lowered {
    explicit Lowered(PackingProblem given)
        : problem(std::move(given)),
          intervals(problem),
          bounds(lower_bounds(problem, intervals)),
          sizes(sizes_of(problem, bounds)),
          placer(problem, intervals),
          start(order_by(OrderRule::creation, intervals, sizes, 0)),
          search(problem, intervals, sizes, 0, start, placer) {}

    std::int64_t height(const std::vector<int>& order) {
        placer.place(order, sizes, 0, GapFit::first);
        std::int64_t height = 0;
        for (const int b : order) height = std::max(height, placer.offsets()[b] + sizes.at(b, 0));
        return height;
    }
    void run(std::int64_t steps) {
        while (search.steps() < steps && search.attempt(steps - search.steps())) {}
    }

    PackingProblem problem;
    LiveIntervals intervals;
    std::vector<std::int64_t> bounds;
    Sizes sizes;
    Placer placer;
    std::vector<int> start;
    CeilingSearch search;
};

// With aligned sizes the optimum is that of all orders.
TEST(CeilingSearch, IsExactOnSmallProblems) {
    int lowered = 0;
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        Lowered plan(testing::crowded_problem(seed, seed % 2 == 1));
        std::int64_t optimum = 0;
        for (const Section& section : sections_of(plan.problem, plan.intervals, plan.sizes, 0))
            optimum = std::max(optimum, testing::optimal_height(section));
        const std::int64_t before = plan.height(plan.start);
        plan.run(1'000'000);
        EXPECT_FALSE(plan.search.attempt(1)) << "the optimum is proved";
        const std::int64_t after = plan.height(plan.search.order());
        EXPECT_LE(after, optimum) << seed;
        EXPECT_GE(align_up(after, 8), optimum) << seed;
        lowered += after < before ? 1 : 0;
    }
    EXPECT_GE(lowered, 60);
}

TEST(CeilingSearch, OrdersAllBuffers) {
    std::mt19937 random(3);
    Lowered plan(testing::random_problem(random, 80, 30, 1, 100, 1));
    plan.run(100'000);
    std::vector<int> order = plan.search.order();
    std::sort(order.begin(), order.end());
    std::sort(plan.start.begin(), plan.start.end());
    EXPECT_EQ(order, plan.start) << "those without bytes too";
}

TEST(CeilingSearch, NothingToLower) {
    EXPECT_FALSE(Lowered({}).search.attempt(1000));
    EXPECT_FALSE(Lowered(testing::problem_of({{0, 0, 1}})).search.attempt(1000));
    Lowered chain(testing::problem_of({{4, 0, 1}, {4, 1, 2}, {4, 2, 3}}));
    EXPECT_FALSE(chain.search.attempt(1000)) << "at its lower bound";
    EXPECT_EQ(chain.height(chain.search.order()), 8);
}

// More than 600 buffers live for long: only a core is searched at first.
TEST(CeilingSearch, LowersLargeSections) {
    for (std::uint32_t seed = 0; seed < 3; ++seed) {
        std::mt19937 random(seed);
        Lowered plan(testing::random_problem(random, 2000, 400, 1, 1'000'000, 64));
        const std::int64_t before = plan.height(plan.start);
        plan.run(20'000'000);
        const std::int64_t after = plan.height(plan.search.order());
        EXPECT_LT(after, before);
        EXPECT_GE(after, plan.bounds[0]);
    }
}

// Attempts do not depend on the steps that remain, except the last: a larger budget continues a smaller one.
TEST(CeilingSearch, MoreStepsAreNeverWorse) {
    const PackingProblem problem =
        bench::read_minimalloc(CAIRN_SOURCE_DIR "/tests/data/minimalloc/D.1048576.csv").problem;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    int lower = 0;
    for (const std::int64_t steps : {0, 1, 100'000, 1'000'000, 5'000'000, 30'000'000}) {
        Lowered plan(problem);
        plan.run(steps);
        const std::int64_t height = plan.height(plan.search.order());
        EXPECT_LE(height, last) << steps;
        lower += height < last ? 1 : 0;
        last = height;
    }
    EXPECT_GE(lower, 3);
}

TEST(CeilingSearch, EqualSearchesGiveEqualOrders) {
    const auto order = [] {
        std::mt19937 random(11);
        Lowered plan(testing::random_problem(random, 300, 80, 1, 1000, 1));
        plan.run(3'000'000);
        return plan.search.order();
    };
    EXPECT_EQ(order(), order());
}

TEST(CeilingSearch, AStopEndsAnAttempt) {
    std::mt19937 random(5);
    Lowered plan(testing::random_problem(random, 200, 60, 1, 1000, 1));
    std::stop_source stop;
    stop.request_stop();
    const std::int64_t before = plan.search.steps();
    plan.search.attempt(1'000'000'000, stop.get_token());
    EXPECT_LE(plan.search.steps() - before, 200'000);
}

}  // namespace
}  // namespace cairn::memory_plan
