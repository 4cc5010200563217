#include "program/memory_plan/canonical_search.hpp"

#include "bench/graph_buffers.hpp"
#include "program/memory_plan/placement_orders.hpp"
#include "tests/program/memory_plan/section_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace cairn::memory_plan {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;

std::vector<int> numbers(const Section& section) {
    std::vector<int> priority(section.buffers.size());
    std::iota(priority.begin(), priority.end(), 0);
    return priority;
}

// The search decides at each ceiling whether there is a plan below it, as trying all orders does.
TEST(CanonicalSearch, IsExact) {
    for (const bool has_mixed_alignments : {false, true}) {
        int above_bound = 0, searched = 0;
        for (std::uint32_t seed = 0; seed < 400; ++seed) {
            const Section section = testing::section_of_all(testing::crowded_problem(seed, has_mixed_alignments));
            const std::int64_t optimum = testing::optimal_height(section);
            above_bound += optimum > section.lower_bound ? 1 : 0;
            std::mt19937 random(seed);
            for (int round = 0; round < 3; ++round) {
                std::vector<int> priority = numbers(section);
                std::shuffle(priority.begin(), priority.end(), random);
                CanonicalSearch search(section, priority);
                for (const std::int64_t ceiling : {optimum - 1, optimum, optimum + 1, optimum - 2, 2 * optimum}) {
                    const SearchResult expected = ceiling < optimum ? SearchResult::none : SearchResult::found;
                    ASSERT_EQ(search.run(ceiling, unlimited), expected) << seed << " at " << ceiling;
                    if (expected == SearchResult::found) {
                        ASSERT_LE(testing::stacked_height(section, search.order()), ceiling) << seed;
                    }
                    ++searched;
                }
            }
        }
        EXPECT_EQ(searched, 400 * 15);
        EXPECT_GE(above_bound, 50) << "the lower bound alone decides nothing";
    }
}

TEST(CanonicalSearch, NothingAndOneBuffer) {
    CanonicalSearch none(Section(), {});
    EXPECT_EQ(none.run(0, unlimited), SearchResult::found);
    EXPECT_TRUE(none.order().empty());
    const Section one = testing::section_of_all(testing::problem_of({{7, 0, 3}}));
    CanonicalSearch search(one, numbers(one));
    EXPECT_EQ(search.run(6, unlimited), SearchResult::none);
    EXPECT_EQ(search.run(7, unlimited), SearchResult::found);
    EXPECT_EQ(search.order(), std::vector<int>{0});
}

TEST(CanonicalSearch, StopsAtItsStepsAndOnAStop) {
    std::mt19937 random(5);
    const Section section = testing::section_of_all(testing::random_problem(random, 200, 60, 1, 1000, 1));
    CanonicalSearch search(section, numbers(section));
    const std::int64_t before = search.steps();
    EXPECT_EQ(search.run(section.lower_bound, 10'000), SearchResult::cut_off);
    EXPECT_GE(search.steps() - before, 10'000);
    EXPECT_LE(search.steps() - before, 100'000) << "a node has few steps";
    std::stop_source stop;
    stop.request_stop();
    const std::int64_t then = search.steps();
    EXPECT_EQ(search.run(section.lower_bound, unlimited, stop.get_token()), SearchResult::cut_off);
    EXPECT_LE(search.steps() - then, 1000);
}

TEST(CanonicalSearch, EqualSearchesMakeEqualSteps) {
    const auto steps = [] {
        std::mt19937 random(9);
        const Section section = testing::section_of_all(testing::random_problem(random, 60, 30, 1, 1000, 1));
        CanonicalSearch search(section, numbers(section));
        search.run(section.lower_bound, 300'000);
        return search.steps();
    };
    EXPECT_EQ(steps(), steps());
}

/// Steps that prove that there is no plan of a gap problem with `count` more buffers below its optimum.
std::int64_t steps_of_proof(const BufferRequest& more, int count) {
    std::mt19937 random(1);
    PackingProblem problem = testing::gap_problem(random, 1);
    problem.buffers.insert(problem.buffers.end(), static_cast<std::size_t>(count), more);
    const Section section = testing::section_of_all(problem);
    CanonicalSearch search(section, numbers(section));
    std::int64_t ceiling = section.lower_bound, steps = 0;
    for (std::int64_t before = search.steps(); search.run(ceiling, 1'000'000) != SearchResult::found; ++ceiling) {
        steps = search.steps() - before;
        before = search.steps();
    }
    EXPECT_GT(ceiling, section.lower_bound) << "there is nothing to prove";
    return steps;
}

// About 1,800 steps; more than 3,600 if equal buffers are tried in all orders, if offsets of waiting buffers are
// bounded by the last one placed, or if only the ends of placed buffers count.
TEST(CanonicalSearch, ProvesWithFewSteps) { EXPECT_LE(steps_of_proof({{1}, 1, 2, 2}, 3), 2500); }

// About 1,500 steps; 12,000 if buffers that are live all the time have alternatives.
TEST(CanonicalSearch, PlacesSpanningBuffersFirst) { EXPECT_LE(steps_of_proof({{1}, 1, 0, 4}, 7), 2500); }

// 5.7 million steps; 6.1 if ranges without a plan are searched again.
TEST(CanonicalSearch, RemembersRangesWithoutAPlan) {
    const PackingProblem problem =
        bench::read_minimalloc(CAIRN_SOURCE_DIR "/tests/data/minimalloc/C.1048576.csv").problem;
    const LiveIntervals intervals(problem);
    const Sizes sizes = sizes_of(problem, lower_bounds(problem, intervals));
    const Section section = section_of(problem, intervals, sizes, 0, order_by(OrderRule::area, intervals, sizes, 0));
    CanonicalSearch search(section, numbers(section));
    EXPECT_EQ(search.run(1'048'576, 5'900'000), SearchResult::found);
}

// Two halves that only the first buffer connects: the second has no plan, whatever the first looks like.
TEST(CanonicalSearch, ReturnsToTheBufferThatSplitTheRange) {
    std::mt19937 random(1);
    const Section hard = testing::section_of_all(testing::gap_problem(random, 1));
    ASSERT_EQ(hard.lower_bound, 17);
    ASSERT_EQ(testing::optimal_height(hard), 19);
    std::vector<testing::Simple> buffers{{1, 0, 60}};
    for (int i = 0; i < hard.count(); ++i) buffers.push_back({hard.bytes[i], 50 + hard.first[i], 50 + hard.last[i]});
    for (int i = 0; i < 6; ++i) buffers.push_back({1 + i % 3, i, i + 3});  // many plans, searched first
    const Section section = testing::section_of_all(testing::problem_of(buffers));
    CanonicalSearch search(section, numbers(section));
    EXPECT_EQ(section.lower_bound, hard.lower_bound + 1);
    EXPECT_EQ(search.run(19, 1'000'000), SearchResult::none);
    EXPECT_EQ(search.run(20, 1'000'000), SearchResult::found);
}

}  // namespace
}  // namespace cairn::memory_plan
