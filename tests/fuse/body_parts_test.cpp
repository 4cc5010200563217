#include "fuse/body_parts.hpp"

#include "cairn/composites.hpp"
#include "tests/fuse/tile_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::test {
namespace {

struct Operands {
    Graph g{"g"};
    Tensor x = g.input("x", DType::f32, {3, 4}), w = g.weight("w", DType::f32, {4, 5}),
           b = g.weight("b", DType::f32, {5}), r = g.input("r", DType::f32, {3, 5});
    Tensor product() const { return matmul(x, w); }
};

// The works that end in the output "y", by their steps, those behind products alone.
std::vector<std::string> behind_products(const Graph& graph) {
    const Proposed p = proposed(graph);
    EXPECT_EQ(tiles_fault(p, 1), "");
    std::vector<std::string> found;
    for (const fuse::Tile& tile : p.tiles)
        if (tile.definition == "fused" && tile.outputs.back() == p.graph->outputs().back().node)
            found.push_back(work_of(tile));
    std::sort(found.begin(), found.end());
    return found;
}

using List = std::vector<std::string>;

TEST(BodyParts, AnythingByElementFollowsAProduct) {
    Operands o;
    const Tensor active = gelu(o.product() + o.b), is_positive = o.r > 0.0;
    const Tensor scaled = where(is_positive, active * 0.5, o.r);
    o.g.output("y", cast(tanh(scaled) + o.r, DType::f16));
    EXPECT_EQ(behind_products(o.g), (List{"fused matmul add const const gelu gt mul where tanh add cast"}));
}

TEST(BodyParts, AStepReadsItsOperandOnceAndStandsForItsOwnOps) {
    Operands o;
    o.g.output("y", silu(o.product()) * o.r);
    EXPECT_EQ(behind_products(o.g), (List{"fused matmul silu mul"}));
}

TEST(BodyParts, AnotherNumberIsAnotherBody) {
    Operands o;
    const Tensor p = o.product();
    o.g.output("y", p * sigmoid(1.702 * p));
    EXPECT_EQ(behind_products(o.g), (List{"fused matmul const mul sigmoid mul"}));
}

TEST(BodyParts, AProductIsNeverComputedTwice) {
    Operands o;
    const Tensor sum = o.product() + o.b;
    o.g.output("max", max_reduce(sum, {-1}));
    o.g.output("y", tanh(sum) * o.r);
    EXPECT_EQ(behind_products(o.g), List{});
}

TEST(BodyParts, OneProductBeginsABodyAndOthersAreRead) {
    Operands o;
    o.g.output("y", tanh(o.product() + matmul(o.x, o.g.weight("v", DType::f32, {4, 5}))));
    EXPECT_EQ(behind_products(o.g), (List{"fused matmul add tanh"}));
}

TEST(BodyParts, ProductsOfTwoBatchesAreNone) {
    Operands o;
    const Tensor a = o.g.input("a", DType::f32, {2, 3, 4}), c = o.g.input("c", DType::f32, {2, 4, 5});
    o.g.output("y", tanh(matmul(a, c)));
    EXPECT_EQ(behind_products(o.g), List{});
}

TEST(BodyParts, AViewOfAProductIsOne) {
    Operands o;
    const Tensor x = o.g.input("z", DType::f32, {2, 3, 4});
    o.g.output("y", tanh(reshape(matmul(reshape(x, {6, 4}), o.w), {2, 3, 5}) + o.b) + 1);
    EXPECT_EQ(behind_products(o.g), (List{"fused matmul add const tanh add"}));
}

}  // namespace
}  // namespace cairn::test
