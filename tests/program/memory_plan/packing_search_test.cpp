#include "program/memory_plan/packing_search.hpp"

#include "tests/program/memory_plan/packing_problems.hpp"

#include <gtest/gtest.h>

namespace cairn::memory_plan {
namespace {

/// A search over a problem, and the lower bounds it is scored against.
struct Searched {
    explicit Searched(PackingProblem given, PackingBudget budget = {1000, 10'000'000})
        : problem(std::move(given)),
          intervals(problem),
          bounds(lower_bounds(problem, intervals)),
          sizes(sizes_of(problem, bounds)),
          search(problem, intervals, sizes, bounds, budget) {}

    PackingProblem problem;
    LiveIntervals intervals;
    std::vector<std::int64_t> bounds;
    Sizes sizes;
    PackingSearch search;
};

TEST(PackingSearch, TheWorstRatioCountsFirstThenTheSum) {
    EXPECT_TRUE((Score{1.0, 9, false} < Score{1.1, 1, false}));
    EXPECT_TRUE((Score{1.1, 1, false} < Score{1.1, 2, false}));
    EXPECT_FALSE((Score{1.1, 2, true} < Score{1.1, 2, false})) << "equal scores are equal";
}

TEST(PackingSearch, ABudgetIsSpentByWorkPlacementsTimeOrAStop) {
    std::stop_source stop;
    EXPECT_FALSE((PackingBudget{1, 1}).spent());
    EXPECT_TRUE((PackingBudget{0, 1}).spent());
    EXPECT_TRUE((PackingBudget{1, 0}).spent());
    EXPECT_TRUE((PackingBudget{1, 1, 0, std::chrono::steady_clock::now()}).spent());
    const PackingBudget stopped{1, 1, 0, std::chrono::steady_clock::time_point::max(), stop.get_token()};
    EXPECT_FALSE(stopped.spent());
    stop.request_stop();
    EXPECT_TRUE(stopped.spent());
}

TEST(PackingSearch, FindsAPlanWithoutABudget) {
    std::mt19937 random(1);
    Searched searched(testing::random_problem(random, 40, 20, 2, 100, 1), {0, 0});
    searched.search.portfolio();
    EXPECT_EQ(searched.search.best().order.size(), 40U);
    const double worst = searched.search.best_score().worst;
    searched.search.improve();
    EXPECT_LE(searched.search.best_score().worst, worst);
}

TEST(PackingSearch, StopsAtAnOptimum) {
    Searched searched(testing::problem_of({{4, 0, 1}, {4, 2, 3}, {4, 0, 3}}), {1000, 1'000'000});
    searched.search.portfolio();
    EXPECT_TRUE(searched.search.best_score().optimal);
    EXPECT_EQ(searched.search.best_score().worst, 1);
}

TEST(PackingSearch, NothingAndOneBufferArePlanned) {
    Searched none(testing::problem_of({}));
    none.search.portfolio();
    none.search.improve();
    EXPECT_TRUE(none.search.best().order.empty());
    Searched empty(testing::problem_of({{0, 0, 0}}));
    empty.search.portfolio();
    empty.search.improve();
    EXPECT_EQ(empty.search.best().order, std::vector<int>{0});
    EXPECT_TRUE(empty.search.best_score().optimal);
}

TEST(PackingSearch, HillClimbingNeverWorsensAndOftenImproves) {
    int helped = 0;
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        Searched searched(testing::random_problem(random, 30, 12, 2, 1000, 1));
        searched.search.portfolio();
        const Score before = searched.search.best_score();
        searched.search.improve();
        const Score after = searched.search.best_score();
        EXPECT_FALSE(before < after);
        EXPECT_TRUE(after.worst >= 1 && after.sum >= 2) << "no plan is below its bound at either size";
        helped += after < before;
    }
    EXPECT_GT(helped, 10);
}

// Hill climbing starts each step from the last improvement: steps that all start from the same order, or from the last
// one tried, leave half of the excess over the bound and more.
TEST(PackingSearch, HillClimbingContinuesFromTheLastImprovement) {
    double before = 0, after = 0;
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        Searched searched(testing::random_problem(random, 60, 20, 2, 1000, 1));
        searched.search.portfolio();
        before += searched.search.best_score().worst - 1;
        searched.search.improve();
        after += searched.search.best_score().worst - 1;
    }
    EXPECT_LT(after, before / 3);
}

PackingProblem beside_one_alive_all_the_time(std::uint32_t seed, std::int64_t bytes) {
    std::mt19937 random(seed);
    PackingProblem problem = testing::random_problem(random, 30, 12, 2, 1000, 1);
    problem.buffers.push_back({{bytes, bytes}, 1, 0, 11});
    return problem;
}

// The second size is so large that all other buffers are less than a thousandth of it.
TEST(PackingSearch, KeepsAPlanNearItsLowerBound) {
    for (const std::int64_t largest : {std::int64_t{100'000}, std::int64_t{100'000'000}}) {
        int changed = 0;
        for (std::uint32_t seed = 0; seed < 40; ++seed) {
            Searched searched(beside_one_alive_all_the_time(seed, largest));
            searched.search.portfolio();
            const Score before = searched.search.best_score();
            searched.search.improve();
            changed += searched.search.best_score() < before;
        }
        EXPECT_EQ(changed > 0, largest == 100'000) << changed;
    }
}

TEST(PackingSearch, ThePortfolioStopsAtAPlanNearItsLowerBound) {
    for (const std::int64_t largest : {std::int64_t{100'000}, std::int64_t{100'000'000}}) {
        int better = 0;
        for (std::uint32_t seed = 0; seed < 40; ++seed) {
            const PackingProblem problem = beside_one_alive_all_the_time(seed, largest);
            Searched first(problem, {1, 1'000'000}), all(problem);
            first.search.portfolio();
            all.search.portfolio();
            better += all.search.best_score() < first.search.best_score();
        }
        EXPECT_EQ(better > 0, largest == 100'000) << better;
    }
}

TEST(PackingSearch, EqualProblemsGetEqualPlans) {
    const auto order = [] {
        std::mt19937 random(7);
        Searched searched(testing::random_problem(random, 30, 12, 2, 1000, 1));
        searched.search.portfolio();
        searched.search.improve();
        return searched.search.best().order;
    };
    EXPECT_EQ(order(), order());
}

}  // namespace
}  // namespace cairn::memory_plan
