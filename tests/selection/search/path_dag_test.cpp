#include "selection/search/path_dag.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cairn::search {
namespace {

TEST(PathDag, ASumOfProductsCostsItsCheapest) {
    PathDag dag;
    const PathSet a = dag.choice(0, 3), b = dag.choice(1, 2), c = dag.choice(2, 4);
    PathDag::Sum sum;
    dag.add(sum, a, c);
    dag.add(sum, b, c);
    dag.add(sum, PathDag::none, c);
    const PathSet set = dag.set_of(sum);
    EXPECT_EQ(dag.cost(set), 6);
    EXPECT_EQ(dag.cheapest(set), (Path{6, {1, 2}}));
    EXPECT_EQ(fault(dag, set), "");
}

TEST(PathDag, OfEqualCostsTheFirstIsChosen) {
    for (const bool only_cheapest : {false, true}) {
        PathDag dag(only_cheapest);
        PathDag::Sum sum;
        for (int choice = 0; choice < 3; ++choice) dag.add(sum, dag.choice(choice, 1));
        EXPECT_EQ(dag.cheapest(dag.set_of(sum)).choices, std::vector<int>{0});
    }
}

TEST(PathDag, TheCheapestOfANegatedDagIsTheMostExpensive) {
    PathDag dag;
    PathDag::Sum sum;
    const PathSet c = dag.choice(2, 4);
    dag.add(sum, dag.choice(0, 2), c);
    dag.add(sum, dag.choice(1, 3), c);
    const PathSet set = dag.product(dag.set_of(sum), PathDag::empty_path);
    const PathDag negated = dag.negated();
    EXPECT_EQ(negated.cheapest(set), (Path{-7, {1, 2}}));
    EXPECT_EQ(negated.cost(set), -7);
    EXPECT_EQ(dag.cheapest(set), (Path{6, {0, 2}})) << "it is as before";
    EXPECT_EQ(negated.negated().cheapest(set), dag.cheapest(set));
    EXPECT_EQ(negated.cheapest(PathDag::empty_path), (Path{0, {}}));
}

TEST(PathDag, NoPathAndTheEmptyPath) {
    PathDag dag;
    EXPECT_EQ(dag.cost(PathDag::none), INFINITY);
    EXPECT_EQ(dag.cheapest(PathDag::empty_path), (Path{0, {}}));
    EXPECT_EQ(dag.set_of({}), PathDag::none);
    const PathSet a = dag.choice(0, 3);
    EXPECT_EQ(dag.product(a, PathDag::empty_path), a);
    EXPECT_EQ(dag.product(PathDag::empty_path, a), a);
    EXPECT_EQ(dag.product(a, PathDag::none), PathDag::none);
}

// The cost is not the sum in order: sums of doubles depend on their order.
TEST(PathDag, CostOfProductPredictsTheCost) {
    int in_order = 0;
    for (int count = 0; count < 40; ++count) {
        PathDag dag;
        std::vector<PathSet> sets;
        std::vector<double> costs;
        for (int i = 0; i < count; ++i) {
            costs.push_back(1.0 / (3 * i + 7));
            sets.push_back(dag.choice(i, costs.back()));
        }
        EXPECT_EQ(PathDag::cost_of_product(costs), dag.cost(dag.product(sets)));
        in_order += PathDag::cost_of_product(costs) == std::accumulate(costs.begin(), costs.end(), 0.0) ? 1 : 0;
    }
    EXPECT_LT(in_order, 30);
}

TEST(PathDag, OneProductIsKeptIfOnlyTheCheapestIsNeeded) {
    PathDag all, one(true);
    for (PathDag* dag : {&all, &one}) {
        PathDag::Sum sum;
        for (const double cost : {5.0, 2.0, 9.0}) dag->add(sum, dag->choice(static_cast<int>(cost), cost));
        const PathSet set = dag->set_of(sum);
        EXPECT_EQ(dag->cost(set), 2);
        EXPECT_EQ(dag->cheapest(set).choices, std::vector<int>{2});
        EXPECT_EQ(dag->first_product(set) >= 0, dag == &all) << "of one choice nothing is made";
    }
}

TEST(PathDag, RenamedChoicesReplaceOthers) {
    PathDag dag;
    const PathSet layer = dag.product(dag.choice(0, 1), dag.choice(1, 2));
    const int renaming = dag.add_renaming({{1, 11}, {0, 10}});
    PathDag::Sum sum;
    dag.add(sum, layer, layer, renaming);
    const PathSet both = dag.set_of(sum);
    EXPECT_EQ(dag.cheapest(both), (Path{6, {0, 1, 10, 11}}));
    EXPECT_EQ(fault(dag, both), "");
    EXPECT_EQ(fault(dag, dag.product(layer, layer)), "set 6: choice 0 is in both sets of a product");
}

TEST(PathDag, AnExtentIsReplicatedForFurtherChoices) {
    PathDag dag;
    const PathSet before = dag.choice(0, 1);
    const PathDag::Extent begin = dag.extent();
    PathDag::Sum sum;
    dag.add(sum, dag.choice(1, 2));
    dag.add(sum, dag.product(dag.choice(2, 3), dag.choice(3, 1)), before);
    const PathSet made = dag.set_of(sum);
    const int shift = dag.repeat(begin, dag.extent(), 10);
    EXPECT_EQ(dag.cheapest(made), (Path{2, {1}}));
    EXPECT_EQ(dag.cheapest(made + shift), (Path{2, {11}}));
    const PathDag dearest = dag.negated();
    EXPECT_EQ(dearest.cheapest(made + shift), (Path{-5, {0, 12, 13}}));
    EXPECT_EQ(fault(dag, dag.product(made, made + shift)), "set 13: choice 0 is in both sets of a product");
}

TEST(PathDag, AllChoicesCanBeRenamed) {
    PathDag dag;
    const PathSet layer = dag.product(dag.choice(0, 1), dag.choice(1, 2));
    PathDag::Sum sum;
    dag.add(sum, layer, layer, dag.add_renaming({{1, 3}, {0, 2}}));
    const PathSet both = dag.set_of(sum);
    dag.rename_all({10, 20, 30, 40});
    EXPECT_EQ(dag.cheapest(both), (Path{6, {10, 20, 30, 40}}));
}

TEST(PathDag, ManySetsAreMultipliedPairwise) {
    PathDag dag;
    EXPECT_EQ(dag.product(std::vector<PathSet>()), PathDag::empty_path);
    std::vector<PathSet> sets;
    for (int choice = 0; choice < 1000; ++choice) sets.push_back(dag.choice(choice, 1));
    const PathSet all = dag.product(sets);
    EXPECT_EQ(dag.cheapest(all).choices.size(), 1000U);
    std::vector<int> depth(static_cast<std::size_t>(all) + 1, 0);
    for (PathSet set = 0; set <= all; ++set)
        for (int p = dag.first_product(set); p >= 0; p = dag.product_at(p).next)
            for (const PathSet part : {dag.product_at(p).first, dag.product_at(p).second})
                depth[static_cast<std::size_t>(set)] =
                    std::max(depth[static_cast<std::size_t>(set)], depth[static_cast<std::size_t>(part)] + 1);
    EXPECT_EQ(depth[static_cast<std::size_t>(all)], 10);
    sets.push_back(PathDag::none);
    EXPECT_EQ(dag.product(sets), PathDag::none);
}

}  // namespace
}  // namespace cairn::search
