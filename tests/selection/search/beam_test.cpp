#include "selection/search/beam.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace cairn::search {
namespace {

using Positions = std::vector<std::size_t>;

Positions cheapest(const std::vector<double>& costs, std::size_t width) {
    return cheapest_indices(costs.size(), width, [&](std::size_t position) { return costs[position]; });
}

TEST(Beam, KeepsTheCheapestAndOfEqualOnesTheFirst) {
    EXPECT_EQ(cheapest({3, 1, 2, 1, 2}, 3), (Positions{1, 3, 2}));
    EXPECT_EQ(cheapest({3, 1}, 5), (Positions{1, 0}));
    EXPECT_EQ(cheapest({3, 1}, 0), Positions{});
    EXPECT_EQ(cheapest({}, 2), Positions{});
}

TEST(Beam, KeepsTheFirstStatesOfAStableSort) {
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        std::vector<double> costs(random() % 60);
        for (double& cost : costs) cost = static_cast<double>(random() % 8) / 4;
        Positions sorted(costs.size());
        std::iota(sorted.begin(), sorted.end(), std::size_t{0});
        std::stable_sort(sorted.begin(), sorted.end(),
                         [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
        const std::size_t width = random() % 40;
        sorted.resize(std::min(width, sorted.size()));
        EXPECT_EQ(cheapest(costs, width), sorted);
    }
}

TEST(Beam, IsNarrowerForStatesWithManyGoals) {
    EXPECT_EQ(beam_width(100'000, 100'000), 512U);
    EXPECT_EQ(beam_width(1000, 16'000), 64U);
    EXPECT_EQ(beam_width(1000, 10'000'000), 1U);
}

}  // namespace
}  // namespace cairn::search
