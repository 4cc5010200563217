#include "search/space.hpp"

#include "search/unfolded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cairn::search {
namespace {

TEST(Space, ASumOfProductsCostsItsCheapest) {
    Space space;
    const Set a = space.choice(0, 3), b = space.choice(1, 2), c = space.choice(2, 4);
    Space::Sum sum;
    space.add(sum, a, c);
    space.add(sum, b, c);
    space.add(sum, Space::none, c);
    const Set set = space.set_of(sum);
    EXPECT_EQ(space.cost(set), 6);
    EXPECT_EQ(space.cheapest(set), (Path{6, {1, 2}}));
    EXPECT_EQ(fault(space, set), "");
}

TEST(Space, OfEqualCostsTheFirstIsTheCheapest) {
    for (const bool only_cheapest : {false, true}) {
        Space space(only_cheapest);
        Space::Sum sum;
        for (int choice = 0; choice < 3; ++choice) space.add(sum, space.choice(choice, 1));
        EXPECT_EQ(space.cheapest(space.set_of(sum)).choices, std::vector<int>{0});
    }
}

TEST(Space, TheCheapestOfANegatedOneIsTheDearest) {
    Space space;
    Space::Sum sum;
    const Set c = space.choice(2, 4);
    space.add(sum, space.choice(0, 2), c);
    space.add(sum, space.choice(1, 3), c);
    const Set set = space.product(space.set_of(sum), Space::done);
    const Space negated = space.negated();
    EXPECT_EQ(negated.cheapest(set), (Path{-7, {1, 2}}));
    EXPECT_EQ(negated.cost(set), -7);
    EXPECT_EQ(space.cheapest(set), (Path{6, {0, 2}})) << "it is as before";
    EXPECT_EQ(negated.negated().cheapest(set), space.cheapest(set));
    EXPECT_EQ(negated.cheapest(Space::done), (Path{0, {}}));
}

TEST(Space, NothingAndTheEmptyPath) {
    Space space;
    EXPECT_EQ(space.cost(Space::none), INFINITY);
    EXPECT_EQ(space.cheapest(Space::done), (Path{0, {}}));
    EXPECT_EQ(space.set_of({}), Space::none);
    const Set a = space.choice(0, 3);
    EXPECT_EQ(space.product(a, Space::done), a);
    EXPECT_EQ(space.product(Space::done, a), a);
    EXPECT_EQ(space.product(a, Space::none), Space::none);
}

// Not what they cost one after the other: sums of doubles hang on their order.
TEST(Space, AProductCostsWhatIsToldOfItBeforehand) {
    int in_order = 0;
    for (int count = 0; count < 40; ++count) {
        Space space;
        std::vector<Set> sets;
        std::vector<double> costs;
        for (int i = 0; i < count; ++i) {
            costs.push_back(1.0 / (3 * i + 7));
            sets.push_back(space.choice(i, costs.back()));
        }
        EXPECT_EQ(Space::cost_of_product(costs), space.cost(space.product(sets)));
        in_order += Space::cost_of_product(costs) == std::accumulate(costs.begin(), costs.end(), 0.0) ? 1 : 0;
    }
    EXPECT_LT(in_order, 30);
}

TEST(Space, OneProductIsKeptWhereTheCheapestIsEnough) {
    Space all, one(true);
    for (Space* space : {&all, &one}) {
        Space::Sum sum;
        for (const double cost : {5.0, 2.0, 9.0}) space->add(sum, space->choice(static_cast<int>(cost), cost));
        const Set set = space->set_of(sum);
        EXPECT_EQ(space->cost(set), 2);
        EXPECT_EQ(space->cheapest(set).choices, std::vector<int>{2});
        EXPECT_EQ(space->first_product(set) >= 0, space == &all) << "of one choice nothing is made";
    }
}

TEST(Space, ChoicesStandForOthersWhereTheyAreRenamed) {
    Space space;
    const Set layer = space.product(space.choice(0, 1), space.choice(1, 2));
    const int renaming = space.rename({{1, 11}, {0, 10}});
    Space::Sum sum;
    space.add(sum, layer, layer, renaming);
    const Set both = space.set_of(sum);
    EXPECT_EQ(space.cheapest(both), (Path{6, {0, 1, 10, 11}}));
    EXPECT_EQ(fault(space, both), "");
    EXPECT_EQ(fault(space, space.product(layer, layer)), "set 6: choice 0 twice in a product");
}

TEST(Space, WhatWasMadeIsMadeAgainOfFurtherChoices) {
    Space space;
    const Set before = space.choice(0, 1);
    const Space::Extent begin = space.extent();
    Space::Sum sum;
    space.add(sum, space.choice(1, 2));
    space.add(sum, space.product(space.choice(2, 3), space.choice(3, 1)), before);
    const Set made = space.set_of(sum);
    const int further = space.repeat(begin, space.extent(), 10);
    EXPECT_EQ(space.cheapest(made), (Path{2, {1}}));
    EXPECT_EQ(space.cheapest(made + further), (Path{2, {11}}));
    const Space dearest = space.negated();
    EXPECT_EQ(dearest.cheapest(made + further), (Path{-5, {0, 12, 13}}));
    EXPECT_EQ(fault(space, space.product(made, made + further)), "set 13: choice 0 twice in a product");
}

TEST(Space, AllChoicesMayBeCalledSomethingElse) {
    Space space;
    const Set layer = space.product(space.choice(0, 1), space.choice(1, 2));
    Space::Sum sum;
    space.add(sum, layer, layer, space.rename({{1, 3}, {0, 2}}));
    const Set both = space.set_of(sum);
    space.rename_all({10, 20, 30, 40});
    EXPECT_EQ(space.cheapest(both), (Path{6, {10, 20, 30, 40}}));
}

TEST(Space, ManySetsAreJoinedTwoByTwo) {
    Space space;
    EXPECT_EQ(space.product(std::vector<Set>()), Space::done);
    std::vector<Set> sets;
    for (int choice = 0; choice < 1000; ++choice) sets.push_back(space.choice(choice, 1));
    const Set all = space.product(sets);
    EXPECT_EQ(space.cheapest(all).choices.size(), 1000U);
    std::vector<int> depth(static_cast<std::size_t>(all) + 1, 0);
    for (Set set = 0; set <= all; ++set)
        for (int p = space.first_product(set); p >= 0; p = space.product_at(p).next)
            for (const Set part : {space.product_at(p).first, space.product_at(p).second})
                depth[static_cast<std::size_t>(set)] =
                    std::max(depth[static_cast<std::size_t>(set)], depth[static_cast<std::size_t>(part)] + 1);
    EXPECT_EQ(depth[static_cast<std::size_t>(all)], 10);
    sets.push_back(Space::none);
    EXPECT_EQ(space.product(sets), Space::none);
}

TEST(Space, WhatIsMovedStandsFurtherOn) {
    Space space;
    space.move_from(2);
    const Set block = space.product(space.choice(1, 8), space.choice(2, 4));
    Space::Sum two, four;
    space.add(two, space.choice(3, 1), block, -1, 10);
    const Set both = space.set_of(two);
    space.add(four, space.choice(4, 2), both, -1, 100);
    const Set all = space.set_of(four);
    EXPECT_EQ(fault(space, all), "");
    // Moves add up; a choice that may not move stays where it is.
    EXPECT_EQ(space.cheapest(all), (Path{15, {1, 4, 103, 112}}));
    Unfolded asked(space, all);
    EXPECT_EQ(asked.cheapest(std::vector<double>{0, 8, 4, 1, 2}), 15);
    EXPECT_EQ(asked.path(), (std::vector<int>{1, 4, 103, 112}));
    Space::Sum alone, clash;
    space.add(alone, Space::done, block, -1, 5);
    EXPECT_EQ(space.cheapest(space.set_of(alone)), (Path{12, {1, 7}}));
    space.add(clash, space.choice(12, 1), block, -1, 10);
    EXPECT_NE(fault(space, space.set_of(clash)), "");
}

}  // namespace
}  // namespace cairn::search
