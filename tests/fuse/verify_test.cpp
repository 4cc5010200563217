#include "cairn/composites.hpp"
#include "tests/fuse/tile_check.hpp"
#include "tests/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cairn::test {
namespace {

Proposed of_a_block() {
    Graph g("g");
    const Dim t = g.symbol("T", 1, 4);
    const Tensor x = g.input("x", DType::f32, {t, 6}), gamma = g.weight("gamma", DType::f32, {6}),
                 beta = g.weight("beta", DType::f32, {6}), w = g.weight("w", DType::f32, {6, 6});
    g.output("y", gelu(linear(layer_norm(x, gamma, beta), w, beta)) + x);
    return proposed(g);
}

fuse::Tile& tile_of(Proposed& proposed, std::string_view definition) {
    for (fuse::Tile& tile : proposed.tiles)
        if (tile.definition == definition) return tile;
    throw std::runtime_error("no tile of " + std::string(definition));
}

std::string fault_of(const Proposed& proposed) {
    return fuse::verify(*proposed.graph, expand::Classes(*proposed.graph), proposed.tiles, definitions());
}

TEST(Verify, ProposedTilesComputeWhatTheyProvide) {
    EXPECT_EQ(fault_of(of_a_block()), "");
    for (const bool wild : {false, true})
        for (std::uint64_t seed = 0; seed < 60; ++seed)
            EXPECT_EQ(fault_of(proposed(random_graph(seed, {.wild = wild}))), "") << seed << (wild ? " wild" : "");
}

TEST(Verify, FaultsAreFound) {
    struct Case {
        const char* definition;
        std::function<void(fuse::Tile&)> spoil;
        const char* fault;
    };
    const Case cases[] = {
        {"layer_norm", [](fuse::Tile& tile) { tile.attributes[0].value = 0.5; }, "does not compute %"},
        {"layer_norm", [](fuse::Tile& tile) { std::swap(tile.inputs[1], tile.inputs[2]); }, "does not compute %"},
        {"layer_norm", [](fuse::Tile& tile) { tile.inputs.pop_back(); }, "does not compute %"},
        {"layer_norm", [](fuse::Tile& tile) { tile.inputs.clear(); }, "cannot be rebuilt"},
        {"fused", [](fuse::Tile& tile) { std::swap(tile.inputs[0], tile.inputs[1]); }, ""},
        {"fused", [](fuse::Tile& tile) { tile.results[0] = static_cast<int>(tile.inputs.size()); },
         "does not compute %"},
        {"fused", [](fuse::Tile& tile) { tile.definition = "elementwise"; }, "cannot be rebuilt"},
        {"fused", [](fuse::Tile& tile) { tile.definition = "unknown"; }, "cannot be rebuilt"},
        {"matmul", [](fuse::Tile& tile) { std::swap(tile.inputs[0], tile.inputs[1]); }, ""},
        {"fused", [](fuse::Tile& tile) { tile.outputs[0] = 100000; }, "names node %100000"},
        {"fused", [](fuse::Tile& tile) { tile.inputs.push_back(tile.outputs[0]); }, "which it reads"},
        {"elementwise", [](fuse::Tile& tile) { tile.outputs.clear(); }, "has no output"},
    };
    for (const Case& c : cases) {
        Proposed spoiled = of_a_block();
        c.spoil(tile_of(spoiled, c.definition));
        const std::string fault = fault_of(spoiled);
        EXPECT_NE(fault, "") << c.definition << " " << c.fault;
        EXPECT_NE(fault.find(c.fault), std::string::npos) << fault;
    }
}

}  // namespace
}  // namespace cairn::test
