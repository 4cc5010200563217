#include "selection/search/numbering.hpp"

#include "selection/search/explore.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cairn::search::test {
namespace {

// random_test.cpp checks by brute force that numbers and paths correspond one to one.

Exploration all_of(const SearchProblem& problem) {
    Options options;
    options.only_cheapest = false;
    return explore(problem, options);
}

/// `count` goals with `each` alternatives each.
SearchProblem independent(int count, int each) {
    WrittenGoals goals;
    std::vector<int> roots;
    for (int g = 0; g < count; ++g) {
        roots.push_back(g);
        auto& alternatives = goals.emplace_back();
        for (int a = 0; a < each; ++a) alternatives.push_back({static_cast<double>(a)});
    }
    return written(goals, roots);
}

/// Goals of two alternatives, each of which depends on one of the two goals below.
SearchProblem ladder(int count) {
    WrittenGoals goals{{{1}}, {{1}}};
    for (int g = 2; g < count; ++g) goals.push_back({{1, {g - 1}}, {2, {g - 2}}});
    return written(goals, {count - 1});
}

TEST(Numbering, IsExactForAnyNumberOfPaths) {
    const Exploration found = all_of(independent(200, 10));
    const Numbering numbering(found.dag, found.paths);
    EXPECT_EQ(numbering.count().to_string(), "1" + std::string(200, '0'));
    const Natural some = Natural::parse("123456789" + std::string(180, '7')).value();
    EXPECT_EQ(numbering.rank(numbering.unrank(some).value().choices), some);
    EXPECT_EQ(numbering.unrank(numbering.count()), std::nullopt);
    EXPECT_TRUE(numbering.unrank(numbering.count() - 1).has_value());
}

TEST(Numbering, CountsAClosedFormula) {
    // Steps of one or two down a ladder: Fibonacci's numbers, beyond 2^64 from the 94th on.
    Natural before = 1, count = 1;
    for (int goals = 3; goals <= 400; ++goals) {
        before += count;
        std::swap(before, count);
        if (goals % 19 != 0 && goals != 400) continue;
        const Exploration found = all_of(ladder(goals));
        EXPECT_EQ(Numbering(found.dag, found.paths).count(), count) << goals;
    }
    EXPECT_GT(count, Natural::parse("100000000000000000000"));
}

TEST(Numbering, OfNoPathAndOfTheEmptyPath) {
    const PathDag dag;
    const Numbering none(dag, PathDag::none);
    EXPECT_EQ(none.count(), 0);
    EXPECT_EQ(none.unrank(0), std::nullopt);
    EXPECT_EQ(none.rank({}), std::nullopt);
    EXPECT_EQ(none.sample([] { return std::uint64_t{0}; }), std::nullopt);
    const Numbering one(dag, PathDag::empty_path);
    EXPECT_EQ(one.count(), 1);
    EXPECT_EQ(one.unrank(0), (Path{0, {}}));
    EXPECT_EQ(one.unrank(1), std::nullopt);
    EXPECT_EQ(one.rank({}), Natural(0));
}

TEST(Numbering, AnInvalidPathHasNoNumber) {
    const Exploration found = all_of(written({{{1}, {2}}, {{1, {0}}, {5}}}, {1}));
    const Numbering numbering(found.dag, found.paths);
    EXPECT_EQ(numbering.count(), 3);
    const auto has_number = [&](std::vector<int> choices) { return numbering.rank(choices).has_value(); };
    EXPECT_TRUE(has_number({0, 2}));
    EXPECT_TRUE(has_number({2, 0}));
    EXPECT_TRUE(has_number({3}));
    EXPECT_FALSE(has_number({2})) << "too little";
    EXPECT_FALSE(has_number({0, 3})) << "too much";
    EXPECT_FALSE(has_number({0, 1, 2}));
    EXPECT_FALSE(has_number({3, 3})) << "twice";
    EXPECT_FALSE(has_number({}));
    EXPECT_FALSE(has_number({99}));
    EXPECT_FALSE(has_number({-1}));
}

TEST(Numbering, ADeepDagNeedsNoRecursion) {
    const Exploration found = all_of(ladder(3000));
    const Numbering numbering(found.dag, found.paths);
    std::mt19937_64 random(1);
    const Path path = numbering.sample(std::ref(random)).value();
    const Natural number = numbering.rank(path.choices).value();
    EXPECT_EQ(numbering.unrank(number), path);
}

TEST(Numbering, SamplesAreUniform) {
    // 1 + 4 * 5 paths through one goal or the other: no power of two.
    const SearchProblem problem = written({{{1}, {2}, {3}, {4}}, {{1}, {2}, {3}, {4}, {5}}, {{1, {0, 1}}, {9}}}, {2});
    const Exploration found = all_of(problem);
    const Numbering numbering(found.dag, found.paths);
    ASSERT_EQ(numbering.count(), 21);
    std::mt19937_64 random(1);
    std::vector<int> drawn(21, 0);
    for (int i = 0; i < 21'000; ++i) {
        const Path path = numbering.sample(std::ref(random)).value();
        ++drawn[std::stoul(numbering.rank(path.choices).value().to_string())];
    }
    double chi_square = 0;
    for (const int times : drawn) chi_square += (times - 1000.0) * (times - 1000.0) / 1000.0;
    EXPECT_LT(chi_square, 45.3) << "20 degrees of freedom, one in a thousand";
    EXPECT_GT(chi_square, 5.9) << "nor too even";
}

TEST(Numbering, SamplesOfVeryManyPathsAreUniform) {
    const Exploration found = all_of(independent(100, 3));
    const Numbering numbering(found.dag, found.paths);
    std::mt19937_64 random(1);
    std::vector<int> drawn(300, 0);
    for (int i = 0; i < 3000; ++i) {
        const Path path = numbering.sample(std::ref(random)).value();
        for (const int choice : path.choices) ++drawn[static_cast<std::size_t>(choice)];
    }
    // Every alternative of a goal is equally frequent.
    double chi_square = 0;
    for (const int times : drawn) chi_square += (times - 1000.0) * (times - 1000.0) / 1000.0;
    EXPECT_LT(chi_square, 267.6) << "200 degrees of freedom, one in a thousand";
    EXPECT_GT(chi_square, 143.8) << "nor too even";
}

}  // namespace
}  // namespace cairn::search::test
