#include "program/memory_plan/canonical_search.hpp"

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

// Equal buffers are placed in order of number: without that, all their permutations are searched for the proof.
TEST(CanonicalSearch, SearchesOneOrderOfEqualBuffers) {
    std::vector<testing::Simple> buffers;
    for (int i = 0; i < 12; ++i) buffers.push_back({3, 0, 1});
    for (int i = 0; i < 12; ++i) buffers.push_back({3, 1, 2});
    buffers.push_back({2, 0, 2});
    const Section section = testing::section_of_all(testing::problem_of(buffers));
    CanonicalSearch search(section, numbers(section));
    EXPECT_EQ(search.run(section.lower_bound, 1'000'000), SearchResult::found);
    EXPECT_EQ(section.lower_bound, 74);
}

// Two halves that only the first buffer connects: the second has no plan, whatever the first looks like.
TEST(CanonicalSearch, ReturnsToTheBufferThatSplitTheRange) {
    std::mt19937 random(1);
    const Section hard = testing::section_of_all(testing::gap_problem(random, 1));
    ASSERT_EQ(hard.lower_bound, 17);
    ASSERT_EQ(testing::optimal_height(hard), 19);
    std::vector<testing::Simple> buffers{{1, 0, 60}};
    for (int i = 0; i < hard.count(); ++i) buffers.push_back({hard.bytes[i], 50 + hard.first[i], 50 + hard.last[i]});
    for (int i = 0; i < 40; ++i) buffers.push_back({1 + i % 2, i, i + 3});  // many plans
    const Section section = testing::section_of_all(testing::problem_of(buffers));
    CanonicalSearch search(section, numbers(section));
    EXPECT_EQ(section.lower_bound, hard.lower_bound + 1);
    EXPECT_EQ(search.run(19, 1'000'000), SearchResult::none);
    EXPECT_EQ(search.run(20, 1'000'000), SearchResult::found);
}

}  // namespace
}  // namespace cairn::memory_plan
