#include "search/cheapest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace cairn::search::test {
namespace {

constexpr std::uint32_t has(int choice) { return static_cast<std::uint32_t>(choice) << 1; }
constexpr std::uint32_t lacks(int choice) { return has(choice) | 1U; }

Set sum_of(Space& space, const std::vector<Set>& sets) {
    Space::Sum sum;
    for (const Set set : sets) space.add(sum, set);
    return space.set_of(sum);
}

TEST(Cheapest, OfTwoPathsThatWithoutTheGreatestChoiceOfOneAloneComesFirst) {
    const auto before = [](const Difference& a, const Difference& b) { return comes_before(a, b); };
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

TEST(Cheapest, OfEqualCostsTheFirstByItsChoices) {
    Space space;
    const Set a = space.choice(0, 1), b = space.choice(1, 1), c = space.choice(2, 1), d = space.choice(3, 1);
    // The later product comes first: 1 2 before 0 3.
    const Set either = sum_of(space, {space.product(a, d), space.product(b, c)});
    Cheapest cheapest(space, either);
    EXPECT_EQ(cheapest.choices(either), (std::vector<int>{1, 2}));
    EXPECT_EQ(cheapest.product(either), space.product_at(space.first_product(either)).next);
    EXPECT_EQ(cheapest.difference(cheapest.product(either), space.first_product(either)),
              (Difference{lacks(0), has(1), has(2), lacks(3)}));
}

TEST(Cheapest, AChoiceMayStandInTwoSets) {
    Space space;
    const Set a = space.choice(0, 1), again = space.choice(0, 1), b = space.choice(1, 1), c = space.choice(2, 1);
    const Set either = sum_of(space, {space.product(a, c), space.product(again, b)});
    Cheapest cheapest(space, either);
    const int first = space.first_product(either);
    EXPECT_EQ(cheapest.difference(first, space.product_at(first).next), (Difference{lacks(1), has(2)}));
    EXPECT_EQ(cheapest.choices(either), (std::vector<int>{0, 1}));
}

TEST(Cheapest, SumsAreExactInAnyOrder) {
    // 0.1 ten times is 1 in no order of doubles but some; as written here it is a little more.
    Space space;
    std::vector<Set> tenths;
    for (int choice = 0; choice < 10; ++choice) tenths.push_back(space.choice(choice, 0.1));
    Set one_by_one = Space::done;
    for (const Set tenth : tenths) one_by_one = space.product(one_by_one, tenth);
    const Set two_by_two = space.product(tenths), set = sum_of(space, {one_by_one, two_by_two, space.choice(10, 1)});
    Cheapest cheapest(space, set);
    EXPECT_NE(space.cost(one_by_one), space.cost(two_by_two));
    EXPECT_EQ(cheapest.cost(one_by_one), cheapest.cost(two_by_two));
    EXPECT_EQ(cheapest.rounded(cheapest.cost(two_by_two)), 1);
    EXPECT_GT(cheapest.cost(two_by_two), cheapest.cost(set)) << "0.1 as a double is a little more than a tenth";
}

TEST(Cheapest, CostsOfAnySizeFit) {
    for (const double cost : {0.0, 1e-300, 1e-9, 3.0, 1e300, -2.5, std::numeric_limits<double>::max()}) {
        Space space;
        const Set one = space.choice(0, cost), two = space.choice(1, cost / 3), all = space.product(one, two);
        const Cheapest cheapest(space, all);
        EXPECT_EQ(cheapest.rounded(cheapest.cost(one)), cost);
        EXPECT_EQ(cheapest.rounded(cheapest.cost(two)), cost / 3);
        EXPECT_EQ(cheapest.rounded(cheapest.cost(all)), cost + cost / 3);
    }
}

TEST(Cheapest, WhatTheSetIsNotMadeOfMayCostMoreThanFits) {
    Space space;
    const Set dear = space.choice(0, 1e300), dearer = space.product(dear, space.choice(1, 1e300));
    space.product(dearer, space.choice(2, 1e300));
    const Set one = space.choice(3, 1e-300), all = space.product(one, space.choice(4, 3e-300));
    const Cheapest cheapest(space, all);
    EXPECT_EQ(cheapest.rounded(cheapest.cost(one)), 1e-300);
    EXPECT_EQ(cheapest.rounded(cheapest.cost(all)), 4e-300);
}

TEST(Cheapest, AMillionDearOnesFit) {
    Space space;
    const double most = std::ldexp(1, 1000);
    Set set = space.choice(0, most);
    for (int doubled = 0; doubled < 20; ++doubled)
        set = [&] {
            Space::Sum sum;
            space.add(sum, set, set, space.rename({{0, 1}}));  // names do not matter here
            return space.set_of(sum);
        }();
    const Cheapest cheapest(space, set);
    EXPECT_EQ(cheapest.rounded(cheapest.cost(set)), std::ldexp(1, 1020));
}

TEST(Cheapest, WhatBothAreMadeOfIsNotLookedInto) {
    // A long chain of ties, each of which takes a step.
    Space space;
    Set set = Space::done;
    for (int depth = 0; depth < 20'000; ++depth) {
        Space::Sum sum;
        space.add(sum, set, space.choice(2 * depth + 1, 1));
        space.add(sum, set, space.choice(2 * depth, 1));
        set = space.set_of(sum);
    }
    Cheapest cheapest(space, set);
    const std::vector<int> choices = cheapest.choices(set);
    ASSERT_EQ(choices.size(), 20'000U);
    for (std::size_t i = 0; i < choices.size(); ++i) ASSERT_EQ(choices[i], static_cast<int>(2 * i));
}

}  // namespace
}  // namespace cairn::search::test
