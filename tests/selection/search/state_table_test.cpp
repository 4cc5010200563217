#include "selection/search/state_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::search {
namespace {

State state_of(int goal) { return {pending(goal)}; }

TEST(StateTable, KeepsStatesInTheOrderTheyWereFirstReached) {
    PathDag dag;
    const PathSet expensive = dag.choice(0, 3), cheap = dag.choice(1, 2);
    StateTable reached;
    EXPECT_TRUE(reached.entries().empty());
    EXPECT_TRUE(reached.reach(state_of(7), dag, expensive));
    EXPECT_TRUE(reached.reach(state_of(2), dag, expensive));
    EXPECT_FALSE(reached.reach(state_of(7), dag, cheap));
    ASSERT_EQ(reached.entries().size(), 2U);
    EXPECT_EQ(reached.entries()[0].state, state_of(7));
    EXPECT_EQ(reached.entries()[0].sum.cost, 2);
    EXPECT_EQ(reached.entries()[1].state, state_of(2));
    EXPECT_EQ(reached.entries()[1].sum.cost, 3);
    reached.clear();
    EXPECT_TRUE(reached.entries().empty());
    EXPECT_TRUE(reached.reach(state_of(7), dag, cheap)) << "it was forgotten";
}

TEST(StateTable, IsNarrowedToItsCheapestStates) {
    PathDag dag;
    StateTable reached;
    constexpr int count = 5000;
    for (int i = 0; i < count; ++i) reached.reach(state_of(i), dag, dag.choice(i, (i * 7919) % count));
    ASSERT_TRUE(reached.prune_to_beam());
    ASSERT_EQ(reached.entries().size(), 512U);
    for (std::size_t i = 0; i < 512; ++i) EXPECT_EQ(reached.entries()[i].sum.cost, static_cast<double>(i));
    EXPECT_FALSE(reached.prune_to_beam());
    EXPECT_EQ(reached.entries().size(), 512U);
    EXPECT_FALSE(StateTable().prune_to_beam());
}

}  // namespace
}  // namespace cairn::search
