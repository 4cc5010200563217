#include "cairn/text/sampler.hpp"

#include "allocation_counter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace cairn::text {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

using Logits = std::vector<float>;
using Ids = std::vector<std::int32_t>;

const Logits six = {2.0f, 1.0f, 0.5f, -1.0f, 0.0f, 1.5f};

std::set<std::int32_t> seen(const SamplerOptions& options, const Logits& logits, const Ids& previous = {}) {
    Sampler sampler(options);
    std::set<std::int32_t> ids;
    for (int i = 0; i < 5000; ++i) ids.insert(sampler.sample(logits, previous));
    return ids;
}

using Set = std::set<std::int32_t>;

TEST(Sampler, GreedySelectsTheLowestIndexOfATie) {
    Sampler sampler({.temperature = 0});
    EXPECT_EQ(sampler.sample(Logits{1, 3, 3, 2}), 1);
    EXPECT_EQ(sampler.sample(Logits{-infinity, -5}), 1);
    EXPECT_EQ(sampler.sample(Logits{7}), 0);
}

TEST(Sampler, RepetitionPenaltyDividesOrMultipliesOnce) {
    Sampler sampler({.repetition_penalty = 2, .temperature = 0});
    EXPECT_EQ(sampler.sample(Logits{2, 1.25f}, Ids{0}), 1);
    EXPECT_EQ(sampler.sample(Logits{2, 0.75f}, Ids{0, 0, 0}), 0);  // 1, not a quarter: the repeated id counts once
    EXPECT_EQ(sampler.sample(Logits{-1, -1.5f}, Ids{0}), 1);
    EXPECT_EQ(sampler.sample(Logits{-1, -2.5f}, Ids{0}), 0);
    EXPECT_EQ(sampler.sample(Logits{-infinity, -3}, Ids{0, 1}), 1);
    Sampler reward({.repetition_penalty = 0.25, .temperature = 0});
    EXPECT_EQ(reward.sample(Logits{2, 1}, Ids{1}), 1);
}

TEST(Sampler, TopKKeepsTiesOfTheLastRank) {
    EXPECT_EQ(seen({.top_k = 1}, six), (Set{0}));
    EXPECT_EQ(seen({.top_k = 2}, six), (Set{0, 5}));
    EXPECT_EQ(seen({.top_k = 2}, {1, 3, 1, 1, 0.5f}), (Set{0, 1, 2, 3}));
    EXPECT_EQ(seen({.top_k = 99}, six), (Set{0, 1, 2, 3, 4, 5}));
}

TEST(Sampler, TopPKeepsTheSmallestSufficientSet) {
    const Logits logits = {std::log(0.2f), std::log(0.5f), -infinity, std::log(0.3f)};
    EXPECT_EQ(seen({.top_p = 1e-9}, logits), (Set{1}));
    EXPECT_EQ(seen({.top_p = 0.49}, logits), (Set{1}));
    EXPECT_EQ(seen({.top_p = 0.51}, logits), (Set{1, 3}));
    EXPECT_EQ(seen({.top_p = 0.79}, logits), (Set{1, 3}));
    EXPECT_EQ(seen({.top_p = 0.81}, logits), (Set{0, 1, 3}));
    EXPECT_EQ(seen({.top_p = 0.49}, {0, 0, 0, 0}), (Set{0, 1}));  // of equal ones the lowest index
}

TEST(Sampler, StepsApplyInOrder) {
    const Logits logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
    // Temperature first: 0.5^5 : 0.3^5 leaves 92 % for token 0, which alone reaches 0.9.
    EXPECT_EQ(seen({.temperature = 0.2, .top_p = 0.9}, logits), (Set{0}));
    // Top-k first: token 0 has 62.5 % of the two that are left.
    EXPECT_EQ(seen({.top_k = 2, .top_p = 0.6}, logits), (Set{0}));
    // The penalty first: it removes token 0 from the two best.
    EXPECT_EQ(seen({.repetition_penalty = 4, .top_k = 2}, logits, {0}), (Set{1, 2}));
}

std::vector<int> counts(const SamplerOptions& options, const Logits& logits) {
    Sampler sampler(options);
    std::vector<int> times(logits.size());
    for (int i = 0; i < 10000; ++i) ++times[static_cast<std::size_t>(sampler.sample(logits))];
    return times;
}

/// Counts of a second implementation of the documented rule, in Python with its own exponential.
TEST(Sampler, DrawsAsDocumented) {
    EXPECT_EQ(counts({.seed = 42}, six), (std::vector<int>{4174, 1550, 939, 193, 631, 2513}));
    EXPECT_EQ(counts({.temperature = 0.5, .seed = 42}, six), (std::vector<int>{6345, 860, 355, 19, 127, 2294}));
    EXPECT_EQ(counts({.temperature = 2, .seed = 42}, six), (std::vector<int>{2855, 1777, 1392, 637, 1122, 2217}));
    EXPECT_EQ(counts({.top_k = 3, .seed = 42}, six), (std::vector<int>{5040, 1862, 0, 0, 0, 3098}));
    EXPECT_EQ(counts({.top_p = 0.8, .seed = 42}, six), (std::vector<int>{5040, 1862, 0, 0, 0, 3098}));
    EXPECT_EQ(counts({.temperature = 1.5, .top_k = 4, .top_p = 0.75, .seed = 42}, six),
              (std::vector<int>{4454, 2311, 0, 0, 0, 3235}));
}

TEST(Sampler, FollowsTheProbabilities) {
    const std::vector<int> times = counts({.seed = 1}, six);
    double total = 0;
    for (const float logit : six) total += std::exp(logit);
    for (std::size_t i = 0; i < six.size(); ++i) {
        const double p = std::exp(six[i]) / total;
        EXPECT_NEAR(times[i], 10000 * p, 4 * std::sqrt(10000 * p * (1 - p))) << i;
    }
}

TEST(Sampler, IsDeterminedByTheSeed) {
    const auto run = [](std::uint64_t seed) {
        Sampler sampler({.seed = seed});
        Ids ids;
        for (int i = 0; i < 12; ++i) ids.push_back(sampler.sample(six));
        return ids;
    };
    EXPECT_EQ(run(42), (Ids{4, 0, 0, 0, 0, 5, 0, 5, 0, 2, 0, 1}));
    EXPECT_EQ(run(42), run(42));
    EXPECT_NE(run(42), run(43));
}

TEST(Sampler, ExtremeNumbersGiveFiniteResults) {
    constexpr float most = std::numeric_limits<float>::max();
    EXPECT_EQ(seen({.temperature = 1e-300}, {1, 2, 0}), (Set{1}));
    EXPECT_EQ(seen({.temperature = 1e300}, {-most, most}), (Set{0, 1}));
    EXPECT_EQ(seen({}, {-most, most, -infinity}), (Set{1}));
    EXPECT_EQ(seen({.repetition_penalty = 1e-300}, {most, 1, -1}, {0}), (Set{0}));
    EXPECT_EQ(seen({.repetition_penalty = 1e300, .temperature = 0.5}, {-most, -most}, {0, 1}), (Set{0, 1}));
}

TEST(Sampler, MemoryIsAllocatedOnce) {
    Sampler sampler({.repetition_penalty = 1.2, .temperature = 0.9, .top_k = 50, .top_p = 0.9});
    Logits logits(5000);
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 7919 % 5000) / 500.0f;
    const Ids previous = {1, 2, 3};
    sampler.sample(logits, previous);
    const std::size_t before = text_test::allocation_count();
    for (int i = 0; i < 20; ++i) sampler.sample(logits, previous);
    EXPECT_EQ(text_test::allocation_count(), before);
}

std::string error_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        return error.what();
    }
    return "";
}

TEST(Sampler, OptionsOutOfRange) {
    const auto refusal = [](const SamplerOptions& options) { return error_of([&] { Sampler sampler(options); }); };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(refusal({.temperature = -1}), "[sampler] expected a finite temperature of at least 0, got -1.000000");
    EXPECT_EQ(refusal({.top_k = -3}), "[sampler] expected a top_k of at least 0, got -3");
    EXPECT_EQ(refusal({.top_p = 0}), "[sampler] expected a top_p above 0 and at most 1, got 0.000000");
    EXPECT_EQ(refusal({.repetition_penalty = 0}),
              "[sampler] expected a finite repetition_penalty above 0, got 0.000000");
    for (const double bad : {nan, static_cast<double>(infinity), -0.5}) {
        EXPECT_NE(refusal({.temperature = bad}), "");
        EXPECT_NE(refusal({.top_p = bad}), "");
        EXPECT_NE(refusal({.repetition_penalty = bad}), "");
    }
    EXPECT_NE(refusal({.top_p = 1.0001}), "");
}

TEST(Sampler, LogitsThatGiveNoToken) {
    Sampler sampler({.seed = 42});
    const auto refusal = [&](const Logits& logits, const Ids& previous = {}) {
        return error_of([&] { sampler.sample(logits, previous); });
    };
    EXPECT_EQ(refusal({1, std::nanf("")}),
              "[sampler] expected logits that are finite or -infinity, got nan at index 1");
    EXPECT_EQ(refusal({infinity}), "[sampler] expected logits that are finite or -infinity, got inf at index 0");
    EXPECT_EQ(refusal({-infinity, -infinity}), "[sampler] expected at least one logit above -infinity, got none");
    EXPECT_EQ(refusal({}), "[sampler] expected 1 to 2147483647 logits, got 0");
    EXPECT_EQ(refusal({1, 2}, {2}), "[sampler] expected previous ids below the 2 logits, got 2");
    EXPECT_EQ(refusal({1, 2}, {-1}), "[sampler] expected previous ids below the 2 logits, got -1");
    EXPECT_EQ(sampler.sample(six), 4);  // the first sample of seed 42: the refused calls have not drawn
}

}  // namespace
}  // namespace cairn::text
