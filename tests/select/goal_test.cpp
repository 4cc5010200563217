#include "select/goal.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::select {
namespace {

TEST(Goals, AreSaidInWords) {
    EXPECT_EQ(to_string(Goal{3}), "%3");
    EXPECT_EQ(to_string(Goal{3, {true, {}}, false}), "%3 in its state");
    EXPECT_EQ(to_string(Goal{3, {false, "panel"}, false}), "%3 as panel");
    EXPECT_EQ(to_string(Goal{3, {false, "panel"}, true}), "%3 as panel, kept");
    EXPECT_EQ(to_string(Goal{3, {}, true}), "%3, kept");
}

TEST(Goals, ThoseOfOneValueStandTogether) {
    std::vector<Goal> goals{{2},
                            {1, {false, "b"}, true},
                            {1, {true, {}}, false},
                            {1, {false, "b"}, false},
                            {1, {false, "a"}, false},
                            {1},
                            {1, {}, true}};
    std::sort(goals.begin(), goals.end());
    EXPECT_EQ(goals, (std::vector<Goal>{{1},
                                        {1, {}, true},
                                        {1, {false, "a"}, false},
                                        {1, {false, "b"}, false},
                                        {1, {false, "b"}, true},
                                        {1, {true, {}}, false},
                                        {2}}));
}

TEST(Goals, AVersionOfAStateIsAtHomeInTheState) {
    Graph graph("g");
    State state = graph.state("s", DType::f32, {graph.symbol("P", 0, 7)}, 0, 8);
    const Tensor x = graph.input("x", DType::f32, {1}), before = state.read(), after = state.append(x);
    EXPECT_EQ(home_of(*graph.data(), x.id()), Goal{x.id()});
    EXPECT_EQ(home_of(*graph.data(), before.id()), (Goal{before.id(), {true, {}}, false}));
    EXPECT_EQ(home_of(*graph.data(), after.id()), (Goal{after.id(), {true, {}}, false}));
}

}  // namespace
}  // namespace cairn::select
