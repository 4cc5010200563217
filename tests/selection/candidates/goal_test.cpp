#include "selection/candidates/goal.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::selection {
namespace {

TEST(Goals, ArePrinted) {
    EXPECT_EQ(to_string(Goal{3}), "%3");
    EXPECT_EQ(to_string(Goal{3, {true, {}}, false}), "%3 in its state");
    EXPECT_EQ(to_string(Goal{3, {false, "panel"}, false}), "%3 as panel");
    EXPECT_EQ(to_string(Goal{3, {false, "panel"}, true}), "%3 as panel, kept");
    EXPECT_EQ(to_string(Goal{3, {}, true}), "%3, kept");
    EXPECT_EQ(to_string(Goal{3, {false, "panel", Device::cuda()}, true}), "%3 as panel on cuda, kept");
    EXPECT_EQ(to_string(Goal{3, {}, false, true}), "%3, transferred");
}

TEST(Goals, AreOrderedByValue) {
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

}  // namespace
}  // namespace cairn::selection
