#include "graph/ir/infer.hpp"

#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

std::string type(const Tensor& tensor) { return to_string(tensor.dtype(), tensor.shape()); }

class Infer : public testing::Test {
protected:
    Graph g;
    Dim n = g.symbol("N", 1, 64), t = g.symbol("T", 2, 12), z = g.symbol("Z", 0, 8);
    Tensor x = g.input("x", DType::f32, {n, t, 6});
    Tensor zx = g.input("zx", DType::f16, {z, 4});
    Tensor ids = g.input("ids", DType::i64, {2, n});
};

TEST_F(Infer, ElementwiseBroadcasts) {
    EXPECT_EQ(type(x + g.input("a", DType::f32, {6})), "f32[N,T,6]");
    EXPECT_EQ(type(g.input("b", DType::f32, {t, 1}) * g.input("c", DType::f32, {n, 1, 6})), "f32[N,T,6]");
    EXPECT_EQ(type(x < 0), "bool[N,T,6]");
    EXPECT_EQ(type(!(x < 0)), "bool[N,T,6]");
    EXPECT_EQ(type(cast(x, DType::bf16)), "bf16[N,T,6]");
    EXPECT_EQ(type(where(g.input("m", DType::boolean, {n, 1, 1}), 0, x)), "f32[N,T,6]");
    EXPECT_EQ(type(where(true, x, 1)), "f32[N,T,6]");
    EXPECT_EQ(type(zx + g.input("one", DType::f16, {1, 1, 4})), "f16[1,Z,4]");
    EXPECT_EQ(type(g.constant(DType::f32, 1) + g.constant(DType::f32, 2)), "f32[]");
}

TEST_F(Infer, ReductionsDropOrKeepAxes) {
    EXPECT_EQ(type(sum(x)), "f32[]");
    EXPECT_EQ(type(sum(x, {}, true)), "f32[1,1,1]");
    EXPECT_EQ(type(sum(x, {0, -1})), "f32[T]");
    EXPECT_EQ(type(max_reduce(x, {1}, true)), "f32[N,1,6]");
    EXPECT_EQ(type(argmax(x, 1)), "i32[N,6]");
    EXPECT_EQ(type(argmax(x, -1, true)), "i32[N,T,1]");
    EXPECT_EQ(type(sum(g.constant(DType::f32, 1))), "f32[]");
    const Tensor kept = sum(x, {0, -1}, true);
    EXPECT_EQ(kept.graph()->node(kept.id()).attributes.dims("axes"), (std::vector<Dim>{-3, -1}));
}

TEST_F(Infer, MatmulBroadcastsBatches) {
    EXPECT_EQ(type(matmul(x, g.weight("w", DType::f32, {6, 8}))), "f32[N,T,8]");
    EXPECT_EQ(type(matmul(g.input("q", DType::f32, {5, 1, t, 6}), transpose(x, {0, 2, 1}))), "f32[5,N,T,T]");
    EXPECT_EQ(type(matmul(zx, g.weight("v", DType::f16, {4, 0}))), "f16[Z,0]");
}

TEST_F(Infer, ReshapeFindsTheMissingSize) {
    EXPECT_EQ(type(reshape(x, {-1})), "f32[6*N*T]");
    EXPECT_EQ(type(reshape(x, {n * t, -1})), "f32[N*T,6]");
    EXPECT_EQ(type(reshape(x, {-1, t, 2, 3})), "f32[N,T,2,3]");
    EXPECT_EQ(type(reshape(x, {2 * n, -1, t})), "f32[2*N,3,T]");
    EXPECT_EQ(type(reshape(zx, {z, 2, -1})), "f16[Z,2,2]") << "no division by a size that may be 0";
    EXPECT_EQ(type(reshape(zx, {-1, 2})), "f16[2*Z,2]");
    EXPECT_EQ(type(reshape(sum(x), {1, 1})), "f32[1,1]");
    EXPECT_EQ(type(reshape(x, {t, n, 6})), "f32[T,N,6]");
}

TEST_F(Infer, MovementOps) {
    EXPECT_EQ(type(transpose(x, {2, 0, -2})), "f32[6,N,T]");
    EXPECT_EQ(type(broadcast(g.weight("r", DType::f32, {1, 6}), {n, t, 6})), "f32[N,T,6]");
    EXPECT_EQ(type(slice(x, 1, t - 1, t)), "f32[N,1,6]");
    EXPECT_EQ(type(slice(x, 1, 0, t - 2)), "f32[N,-2 + T,6]");
    EXPECT_EQ(type(slice(x, -1, 1, 6, 2)), "f32[N,T,3]");
    EXPECT_EQ(type(slice(x, -1, 3, 3)), "f32[N,T,0]");
    EXPECT_EQ(type(window(x, 2, 2, 2)), "f32[N,T,3,2]");
    EXPECT_EQ(type(window(x, 1, 2)), "f32[N,-1 + T,6,2]");
    EXPECT_EQ(type(copy_to(x, Device::cuda())), "f32[N,T,6]");
    EXPECT_EQ(type(unsqueeze(x, 0)), "f32[1,N,T,6]");
    EXPECT_EQ(type(unsqueeze(x, -1)), "f32[N,T,6,1]");
    EXPECT_EQ(type(swap_axes(x, 0, -1)), "f32[6,T,N]");
}

TEST_F(Infer, IndexingOps) {
    EXPECT_EQ(type(pad(x, 1, 1, n)), "f32[N,1 + N + T,6]");
    EXPECT_EQ(type(concat({x, g.input("o", DType::f32, {n, 3, 6}), x}, -2)), "f32[N,3 + 2*T,6]");
    EXPECT_EQ(type(concat({x}, 0)), "f32[N,T,6]");
    EXPECT_EQ(type(gather(g.weight("e", DType::f16, {50, 6}), ids)), "f16[2,N,6]");
    EXPECT_EQ(type(gather(x, ids, 1)), "f32[N,2,N,6]");
    EXPECT_EQ(type(gather(x, 3, -1)), "f32[N,T]");
    EXPECT_EQ(type(scatter(x, g.input("at", DType::i32, {3}), g.input("up", DType::f32, {n, 3, 6}), 1)), "f32[N,T,6]");
    EXPECT_EQ(type(iota(g, n + 1, DType::f64, t)), "f64[1 + N]");
}

TEST_F(Infer, AxesAreStoredFromTheEnd) {
    const auto attribute = [](const Tensor& y, const char* name) {
        return y.graph()->node(y.id()).attributes.dims(name);
    };
    EXPECT_EQ(attribute(slice(x, 0, 0, 1), "axis"), std::vector<Dim>{-3});
    EXPECT_EQ(attribute(transpose(x, {2, 0, 1}), "permutation"), (std::vector<Dim>{-1, -3, -2}));
    EXPECT_EQ(attribute(gather(x, ids, 1), "axis"), std::vector<Dim>{-2});
    EXPECT_EQ(attribute(window(x, 2, 2, 2), "axis"), std::vector<Dim>{-1});
}

TEST_F(Infer, ACopyKeepsTheTypeAndNamesItsDevice) {
    const Tensor copied = copy_to(x, Device::cuda());
    EXPECT_EQ(type(copied + 1), "f32[N,T,6]");
    EXPECT_EQ(copied.graph()->node(copied.id()).attributes.integer("device"), 1);
    EXPECT_NE(copy_to(x, Device::cpu).id(), copied.id());
    EXPECT_EQ(copy_to(x, Device::cuda()).id(), copied.id());
}

TEST_F(Infer, BroadcastShapes) {
    EXPECT_EQ(ir::broadcast_shapes({n, 1}, {4}), (Shape{n, 4}));
    EXPECT_EQ(ir::broadcast_shapes({}, {0, n}), (Shape{0, n}));
    EXPECT_EQ(ir::broadcast_shapes({1}, {0}), Shape{0});
    EXPECT_EQ(ir::broadcast_shapes({n}, {t}), std::nullopt);
    EXPECT_EQ(ir::broadcast_shapes({2}, {4}), std::nullopt);
}

}  // namespace
}  // namespace cairn
