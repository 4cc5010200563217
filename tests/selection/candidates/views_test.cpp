#include "selection/candidates/views.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::selection {
namespace {

std::string text(const ValueView& view) {
    std::string out = "%" + std::to_string(view.base) + " + " + to_string(view.offset) + " (";
    for (std::size_t i = 0; i < view.strides.size(); ++i) out += (i == 0 ? "" : ",") + to_string(view.strides[i]);
    return out + ")";
}

std::string view_text(const Tensor& tensor) { return text(views_of(*tensor.graph())[tensor.id()]); }

TEST(Views, MovementOpsAreViewsOfTheirBase) {
    Graph g;
    const Dim t = g.symbol("T", 1, 64);
    const Tensor x = g.input("x", DType::f32, {t, 2304});
    const Tensor part = slice(x, -1, 768, 1536);
    EXPECT_EQ(view_text(part), "%0 + 768 (2304,1)");
    const Tensor heads = transpose(reshape(part, {t, 12, 64}), {1, 0, 2});
    EXPECT_EQ(view_text(heads), "%0 + 768 (64,2304,1)");
    EXPECT_EQ(view_text(broadcast(reshape(slice(x, 1, 0, 1), {1, t, 1}), {5, t, 7})), "%0 + 0 (0,2304,0)");
    EXPECT_EQ(view_text(slice(x, 0, 0, t, 1)), "%0 + 0 (2304,1)");
    EXPECT_EQ(view_text(slice(x, 1, 4, 12, 3)), "%0 + 4 (2304,3)");
    EXPECT_EQ(view_text(window(x, 1, 5, 2, 3)), "%0 + 0 (2304,2,3)");
}

TEST(Views, AReshapeOfStridedMemoryIsACopy) {
    Graph g;
    const Dim t = g.symbol("T", 1, 64);
    const Tensor x = g.input("x", DType::f32, {t, 12, 64});
    const Tensor merged = reshape(transpose(x, {1, 0, 2}), {12 * t, 64});
    EXPECT_EQ(view_text(merged), "%" + std::to_string(merged.id()) + " + 0 (64,1)");
    EXPECT_EQ(view_text(reshape(x, {t, 768})), "%0 + 0 (768,1)");
}

TEST(Views, ReshapeStridesGroupAxes) {
    const Shape shape{4, 6, 5};
    const auto dense = dense_strides(shape);
    EXPECT_EQ(reshape_strides(shape, dense, {24, 5}), (std::vector<Dim>{5, 1}));
    EXPECT_EQ(reshape_strides(shape, dense, {2, 2, 1, 30}), (std::vector<Dim>{60, 30, 1, 1}));
    EXPECT_EQ(reshape_strides(shape, {100, 5, 1}, {4, 30}), (std::vector<Dim>{100, 1}));
    EXPECT_EQ(reshape_strides(shape, {100, 5, 1}, {24, 5}), std::nullopt);
    EXPECT_EQ(reshape_strides({1, 4}, {77, 3}, {4, 1, 1}), (std::vector<Dim>{3, 1, 1}));
}

TEST(Views, VersionsOfAStateHaveStridesOfItsCapacity) {
    Graph g;
    const Dim past = g.symbol("P", 0, 31), t = g.symbol("T", 1, 8);
    State keys = g.state("keys", DType::f32, {2, past, 16}, 1, 32);
    const Tensor all = keys.append(g.input("x", DType::f32, {2, t, 16}));
    EXPECT_EQ(view_text(all), "%" + std::to_string(all.id()) + " + 0 (512,16,1)");
    EXPECT_EQ(view_text(slice(all, 1, 0, 1)), "%" + std::to_string(all.id()) + " + 0 (512,16,1)");
}

}  // namespace
}  // namespace cairn::selection
