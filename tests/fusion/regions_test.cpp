#include "fusion/regions.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using ir::Op;

std::uint64_t boundary_ops(std::initializer_list<Op> ops) {
    std::uint64_t bits = 0;
    for (const Op op : ops) bits |= std::uint64_t{1} << static_cast<unsigned>(op);
    return bits;
}

struct Found {
    std::vector<ir::NodeId> nodes;
    std::uint64_t boundary_ops;
};

Found region(const Tensor& entry) {
    fusion::RegionCache regions(*entry.graph());
    const fusion::ArithmeticRegion& found = regions.from(entry.id());
    return {{found.nodes.begin(), found.nodes.end()}, found.boundary_ops};
}

TEST(RegionCache, ReachThroughArithmeticAndMovementUpToOtherOps) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), y = g.input("y", DType::f32, {3, 4});
    const Tensor m = max_reduce(x, {-1}, true), low = x - m, half = y * x, e = exp(half), top = low * e;
    const Found found = region(top);
    EXPECT_EQ(found.nodes, (std::vector<ir::NodeId>{top.id(), low.id(), e.id(), x.id(), m.id()})) << "nearest first";
    EXPECT_EQ(found.boundary_ops, boundary_ops({Op::max_reduce, Op::exp})) << "an input marks nothing";
    const Found moved = region(reshape(swap_axes(top, 0, 1), {12}));
    EXPECT_EQ(moved.boundary_ops, found.boundary_ops);
    EXPECT_EQ(moved.nodes.size(), found.nodes.size() + 2);
}

TEST(RegionCache, OfOtherNodesContainOnlyThatNode) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), e = exp(x * x);
    EXPECT_EQ(region(e).nodes, std::vector<ir::NodeId>{e.id()});
    EXPECT_EQ(region(e).boundary_ops, boundary_ops({Op::exp}));
    EXPECT_EQ(region(x).nodes, std::vector<ir::NodeId>{x.id()});
    EXPECT_EQ(region(x).boundary_ops, 0U);
}

TEST(RegionCache, ContainEachNodeOnce) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), square = x * x, top = square + square * x;
    const auto nodes = region(top).nodes;
    EXPECT_EQ(nodes.size(), 4U);
    EXPECT_EQ(nodes.back(), x.id());
}

TEST(RegionCache, EndAfterFortyNodes) {
    Graph g("g");
    Tensor sum = g.input("x", DType::f32, {4});
    const Tensor mark = exp(sum);
    sum = sum + mark;
    for (int i = 0; i < 100; ++i) sum = sum + g.input("x" + std::to_string(i), DType::f32, {4});
    const Found found = region(sum);
    EXPECT_EQ(found.nodes.size(), 40U);
    EXPECT_EQ(found.boundary_ops, 0U) << "too far away";
}

TEST(RegionCache, AreComputedOnce) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), y = x + x;
    fusion::RegionCache regions(*g.data());
    EXPECT_EQ(&regions.from(y.id()), &regions.from(y.id()));
    EXPECT_TRUE(fusion::is_arithmetic(g.data()->node(y.id())));
    EXPECT_FALSE(fusion::is_arithmetic(g.data()->node(x.id())));
}

}  // namespace
}  // namespace cairn::test
