#include "selection/search/cheapest_paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace cairn::search::test {
namespace {

constexpr std::uint32_t has(int choice) { return static_cast<std::uint32_t>(choice) << 1; }
constexpr std::uint32_t lacks(int choice) { return has(choice) | 1U; }

PathSet sum_of(PathDag& dag, const std::vector<PathSet>& sets) {
    PathDag::Sum sum;
    for (const PathSet set : sets) dag.add(sum, set);
    return dag.set_of(sum);
}

TEST(CheapestPaths, ThePathWithoutTheGreatestDifferingChoiceIsFirst) {
    const auto before = [](const PathDifference& a, const PathDifference& b) { return comes_before(a, b); };
    EXPECT_FALSE(before({}, {}));
    EXPECT_TRUE(before({has(3), lacks(4)}, {}));
    EXPECT_FALSE(before({}, {has(3), lacks(4)}));
    EXPECT_FALSE(before({lacks(3), has(4)}, {}));
    EXPECT_TRUE(before({}, {lacks(3), has(4)}));
    EXPECT_TRUE(before({has(3), lacks(4)}, {lacks(4), has(5)}));
    EXPECT_FALSE(before({lacks(4), has(5)}, {has(3), lacks(4)}));
    EXPECT_TRUE(before({has(5), lacks(9)}, {has(6), lacks(9)})) << "what both share counts nothing";
    EXPECT_FALSE(before({has(6), lacks(9)}, {has(5), lacks(9)}));
}

TEST(CheapestPaths, OfEqualCostsTheFirstByChoicesIsFirst) {
    PathDag dag;
    const PathSet a = dag.choice(0, 1), b = dag.choice(1, 1), c = dag.choice(2, 1), d = dag.choice(3, 1);
    // The later product precedes the other: 1 2 before 0 3.
    const PathSet either = sum_of(dag, {dag.product(a, d), dag.product(b, c)});
    CheapestPaths cheapest(dag, either);
    EXPECT_EQ(cheapest.choices(either), (std::vector<int>{1, 2}));
    EXPECT_EQ(cheapest.product(either), dag.product_at(dag.first_product(either)).next);
    EXPECT_EQ(cheapest.difference(cheapest.product(either), dag.first_product(either)),
              (PathDifference{lacks(0), has(1), has(2), lacks(3)}));
}

TEST(CheapestPaths, AChoiceMayBeInTwoSets) {
    PathDag dag;
    const PathSet a = dag.choice(0, 1), again = dag.choice(0, 1), b = dag.choice(1, 1), c = dag.choice(2, 1);
    const PathSet either = sum_of(dag, {dag.product(a, c), dag.product(again, b)});
    CheapestPaths cheapest(dag, either);
    const int first = dag.first_product(either);
    EXPECT_EQ(cheapest.difference(first, dag.product_at(first).next), (PathDifference{lacks(1), has(2)}));
    EXPECT_EQ(cheapest.choices(either), (std::vector<int>{0, 1}));
}

TEST(CheapestPaths, SumsAreExactInAnyOrder) {
    // The sum of ten 0.1 is 1 only in some orders of doubles; added in sequence it is not.
    PathDag dag;
    std::vector<PathSet> tenths;
    for (int choice = 0; choice < 10; ++choice) tenths.push_back(dag.choice(choice, 0.1));
    PathSet one_by_one = PathDag::empty_path;
    for (const PathSet tenth : tenths) one_by_one = dag.product(one_by_one, tenth);
    const PathSet two_by_two = dag.product(tenths), set = sum_of(dag, {one_by_one, two_by_two, dag.choice(10, 1)});
    CheapestPaths cheapest(dag, set);
    EXPECT_NE(dag.cost(one_by_one), dag.cost(two_by_two));
    EXPECT_EQ(cheapest.cost(one_by_one), cheapest.cost(two_by_two));
    EXPECT_EQ(cheapest.rounded(cheapest.cost(two_by_two)), 1);
    EXPECT_GT(cheapest.cost(two_by_two), cheapest.cost(set)) << "0.1 as a double is a little more than a tenth";
}

TEST(CheapestPaths, CostsOfAnySizeFit) {
    for (const double cost : {0.0, 1e-300, 1e-9, 3.0, 1e300, -2.5, std::numeric_limits<double>::max()}) {
        PathDag dag;
        const PathSet one = dag.choice(0, cost), two = dag.choice(1, cost / 3), all = dag.product(one, two);
        const CheapestPaths cheapest(dag, all);
        EXPECT_EQ(cheapest.rounded(cheapest.cost(one)), cost);
        EXPECT_EQ(cheapest.rounded(cheapest.cost(two)), cost / 3);
        EXPECT_EQ(cheapest.rounded(cheapest.cost(all)), cost + cost / 3);
    }
}

TEST(CheapestPaths, UnusedSetsMayHaveOverflowingCosts) {
    PathDag dag;
    const PathSet expensive = dag.choice(0, 1e300), more_expensive = dag.product(expensive, dag.choice(1, 1e300));
    dag.product(more_expensive, dag.choice(2, 1e300));
    const PathSet one = dag.choice(3, 1e-300), all = dag.product(one, dag.choice(4, 3e-300));
    const CheapestPaths cheapest(dag, all);
    EXPECT_EQ(cheapest.rounded(cheapest.cost(one)), 1e-300);
    EXPECT_EQ(cheapest.rounded(cheapest.cost(all)), 4e-300);
}

TEST(CheapestPaths, AMillionLargeCostsFit) {
    PathDag dag;
    const double most = std::ldexp(1, 1000);
    PathSet set = dag.choice(0, most);
    for (int doubled = 0; doubled < 20; ++doubled)
        set = [&] {
            PathDag::Sum sum;
            dag.add(sum, set, set, dag.add_renaming({{0, 1}}));  // the names are irrelevant here
            return dag.set_of(sum);
        }();
    const CheapestPaths cheapest(dag, set);
    EXPECT_EQ(cheapest.rounded(cheapest.cost(set)), std::ldexp(1, 1020));
}

TEST(CheapestPaths, CommonSubsetsAreNotVisited) {
    // A long chain of ties, each of which takes a step.
    PathDag dag;
    PathSet set = PathDag::empty_path;
    for (int depth = 0; depth < 20'000; ++depth) {
        PathDag::Sum sum;
        dag.add(sum, set, dag.choice(2 * depth + 1, 1));
        dag.add(sum, set, dag.choice(2 * depth, 1));
        set = dag.set_of(sum);
    }
    CheapestPaths cheapest(dag, set);
    const std::vector<int> choices = cheapest.choices(set);
    ASSERT_EQ(choices.size(), 20'000U);
    for (std::size_t i = 0; i < choices.size(); ++i) ASSERT_EQ(choices[i], static_cast<int>(2 * i));
}

}  // namespace
}  // namespace cairn::search::test
