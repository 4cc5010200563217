#include "search/reached.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::search {
namespace {

State state_of(int goal) { return {pending(goal)}; }

TEST(Reached, KeepsStatesInTheOrderTheyWereFirstReached) {
    Space space;
    const Set dear = space.choice(0, 3), cheap = space.choice(1, 2);
    Reached reached;
    EXPECT_TRUE(reached.entries().empty());
    EXPECT_TRUE(reached.reach(state_of(7), space, dear));
    EXPECT_TRUE(reached.reach(state_of(2), space, dear));
    EXPECT_FALSE(reached.reach(state_of(7), space, cheap));
    ASSERT_EQ(reached.entries().size(), 2U);
    EXPECT_EQ(reached.entries()[0].state, state_of(7));
    EXPECT_EQ(reached.entries()[0].sum.cost, 2);
    EXPECT_EQ(reached.entries()[1].state, state_of(2));
    EXPECT_EQ(reached.entries()[1].sum.cost, 3);
    reached.clear();
    EXPECT_TRUE(reached.entries().empty());
    EXPECT_TRUE(reached.reach(state_of(7), space, cheap)) << "it was forgotten";
}

TEST(Reached, IsNarrowedToItsCheapestStates) {
    Space space;
    Reached reached;
    constexpr int count = 5000;
    for (int i = 0; i < count; ++i) reached.reach(state_of(i), space, space.choice(i, (i * 7919) % count));
    ASSERT_TRUE(reached.narrow());
    ASSERT_EQ(reached.entries().size(), 512U);
    for (std::size_t i = 0; i < 512; ++i) EXPECT_EQ(reached.entries()[i].sum.cost, static_cast<double>(i));
    EXPECT_FALSE(reached.narrow());
    EXPECT_EQ(reached.entries().size(), 512U);
    EXPECT_FALSE(Reached().narrow());
}

}  // namespace
}  // namespace cairn::search
