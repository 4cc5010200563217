#include "select/layer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cairn::select {
namespace {

TEST(Layer, HoldsTheCheapestWayToEachFrontier) {
    std::mt19937 random(3);
    Layer layer;
    std::map<Frontier, double> cheapest;
    for (int step = 0; step < 5000; ++step) {
        Frontier frontier;
        for (char32_t code = 12; code-- > 0;)
            if (random() % 2 == 0) frontier.push_back(code);
        if (random() % 8 == 0) {
            layer.erase(frontier);
            cheapest.erase(frontier);
            continue;
        }
        const auto cost = static_cast<double>(random() % 1000);
        const auto [known, fresh] = cheapest.try_emplace(frontier, cost);
        known->second = std::min(known->second, cost);
        EXPECT_EQ(layer.reach(frontier, {cost, step, step, 0}), fresh);
    }
    EXPECT_EQ(layer.entries().size(), cheapest.size());
    for (const auto& [frontier, cost] : cheapest) EXPECT_EQ(layer.entries().at(frontier).cost, cost);
    layer.clear();
    EXPECT_TRUE(layer.entries().empty());
    EXPECT_TRUE(layer.reach(U"\3\1", {}));
}

TEST(Layer, OfWaysAsCheapTheFirstStays) {
    Layer layer;
    const Frontier frontier = U"\3\1";
    const auto alternative = [&] { return layer.entries().at(frontier).alternative; };
    layer.reach(frontier, {2, -1, 1, 0});
    EXPECT_FALSE(layer.reach(frontier, {2, -1, 1, 1}));
    EXPECT_EQ(alternative(), 0);
    EXPECT_FALSE(layer.reach(frontier, {1, -1, 1, 2}));
    EXPECT_EQ(alternative(), 2);
}

}  // namespace
}  // namespace cairn::select
