#include "io/onnx_node/known_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace cairn::onnx {
namespace {

using testing::ElementsAre, testing::IsEmpty, testing::Optional;

using Dims = std::vector<std::int64_t>;

TEST(KnownIndex, CountsElementsUpToTheLimit) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(elements_of(Dims{}), 1);
    EXPECT_EQ(elements_of(Dims{3, 4}), 12);
    EXPECT_EQ(elements_of(Dims{64, 64}), most_known_elements);
    EXPECT_GT(elements_of(Dims{64, 65}), most_known_elements);
    EXPECT_GT(elements_of(Dims{huge, huge, huge}), most_known_elements);
    EXPECT_EQ(elements_of(Dims{huge, huge, 0}), 0);
    EXPECT_EQ(elements_of(Dims{0, huge}), 0);
}

TEST(KnownIndex, VisitsPositionsInRowMajorOrder) {
    std::vector<Dims> visited;
    for_each_index(Dims{2, 3},
                   [&](std::span<const std::int64_t> index) { visited.emplace_back(index.begin(), index.end()); });
    EXPECT_THAT(visited, ElementsAre(Dims{0, 0}, Dims{0, 1}, Dims{0, 2}, Dims{1, 0}, Dims{1, 1}, Dims{1, 2}));
    for (std::size_t i = 0; i < visited.size(); ++i) EXPECT_EQ(element_at(Dims{2, 3}, visited[i]), i);
    int scalars = 0;
    for_each_index(Dims{}, [&](std::span<const std::int64_t> index) { scalars += index.empty() ? 1 : 0; });
    EXPECT_EQ(scalars, 1);
    for_each_index(Dims{3, 0}, [](std::span<const std::int64_t>) { ADD_FAILURE(); });
}

TEST(KnownIndex, BroadcastsAsNumPy) {
    EXPECT_THAT(broadcast_dims(Dims{3, 1}, Dims{4}), Optional(ElementsAre(3, 4)));
    EXPECT_THAT(broadcast_dims(Dims{}, Dims{}), Optional(IsEmpty()));
    EXPECT_THAT(broadcast_dims(Dims{1}, Dims{0}), Optional(ElementsAre(0)));
    EXPECT_EQ(broadcast_dims(Dims{2}, Dims{3}), std::nullopt);
    const Known column{ElementType::i64, {2, 1}, {10, 20}, {}};
    EXPECT_THAT(broadcast_to(column, {2, 2, 2}).integers, ElementsAre(10, 10, 20, 20, 10, 10, 20, 20));
    EXPECT_THAT(broadcast_to(Known::number(ElementType::f32, 7), {2}).floats, ElementsAre(7, 7));
}

TEST(KnownIndex, SymbolicSizesAreNoConstants) {
    const auto symbols = Symbols::create();
    EXPECT_THAT(constant_dims({2, 3}), Optional(ElementsAre(2, 3)));
    EXPECT_EQ(constant_dims({2, symbols->add("N", 1, 4)}), std::nullopt);
    EXPECT_EQ(constant_dims({-1}), std::nullopt);
}

}  // namespace
}  // namespace cairn::onnx
