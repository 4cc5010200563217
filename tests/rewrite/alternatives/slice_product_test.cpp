#include "equivalence_cases.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"
#include "graph/ir/op_table.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cairn::test {
namespace {

TEST(SliceProduct, PartsOfAMergedProduct) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,3,4]
%1 = weight "w" : f32[4,6]
%2 = matmul %0, %1 : f32[N,3,6]
%3 = weight "b" : f32[6]
%4 = add %2, %3 : f32[N,3,6]
%5 = slice %4 axis=(-1) start=(0) stop=(2) step=(1) : f32[N,3,2]
%6 = slice %4 axis=(-1) start=(2) stop=(6) step=(2) : f32[N,3,2]
output "q" %5
output "k" %6
)",
                       "slice_product"),
              R"(
%0 = weight "w" : f32[4,6]
%1 = weight "b" : f32[6]
%2 = slice %0 axis=(-1) start=(0) stop=(2) step=(1) : f32[4,2]
%3 = slice %1 axis=(-1) start=(0) stop=(2) step=(1) : f32[2]
%4 = slice %0 axis=(-1) start=(2) stop=(6) step=(2) : f32[4,2]
%5 = slice %1 axis=(-1) start=(2) stop=(6) step=(2) : f32[2]
%6 = input "x" : f32[N,3,4]
%7 = matmul %6, %2 : f32[N,3,2]
%8 = matmul %6, %4 : f32[N,3,2]
%9 = matmul %6, %0 : f32[N,3,6]
%10 = add %9, %1 : f32[N,3,6]
%11 = slice %10 axis=(-1) start=(0) stop=(2) step=(1) : f32[N,3,2]
%12 = add %7, %3 : f32[N,3,2]
%13 = slice %10 axis=(-1) start=(2) stop=(6) step=(2) : f32[N,3,2]
%14 = add %8, %5 : f32[N,3,2]
output "q" %11
output "k" %13
%11 = %12 exact
%13 = %14 exact
)");
}

TEST(SliceProduct, OfAStoredWeight) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,4]
%1 = weight "w" : f32[6,4]
%2 = transpose %1 permutation=(-1,-2) : f32[4,6]
%3 = matmul %0, %2 : f32[N,6]
%4 = reshape %3 shape=(N,1,6) : f32[N,1,6]
%5 = slice %4 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,1,2]
output "y" %5
)",
                       "slice_product"),
              R"(
%0 = weight "w" : f32[6,4]
%1 = transpose %0 permutation=(-1,-2) : f32[4,6]
%2 = slice %0 axis=(-2) start=(1) stop=(3) step=(1) : f32[2,4]
%3 = transpose %2 permutation=(-1,-2) : f32[4,2]
%4 = input "x" : f32[N,4]
%5 = matmul %4, %3 : f32[N,2]
%6 = matmul %4, %1 : f32[N,6]
%7 = reshape %6 shape=(N,1,6) : f32[N,1,6]
%8 = slice %7 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,1,2]
%9 = reshape %5 shape=(N,1,2) : f32[N,1,2]
output "y" %8
%8 = %9 exact
)");
}

TEST(SliceProduct, TheLastOfManyTokens) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[M,4]
%1 = weight "w" : f32[4,3]
%2 = matmul %0, %1 : f32[M,3]
%3 = tanh %2 : f32[M,3]
%4 = weight "v" : f32[3,4]
%5 = matmul %3, %4 : f32[M,4]
%6 = add %0, %5 : f32[M,4]
%7 = slice %6 axis=(-2) start=(M - 1) stop=(M) step=(1) : f32[1,4]
output "y" %7
)",
                       "slice_product"),
              R"(
%0 = weight "w" : f32[4,3]
%1 = weight "v" : f32[3,4]
%2 = input "x" : f32[M,4]
%3 = slice %2 axis=(-2) start=(-1 + M) stop=(M) step=(1) : f32[1,4]
%4 = matmul %3, %0 : f32[1,3]
%5 = tanh %4 : f32[1,3]
%6 = matmul %5, %1 : f32[1,4]
%7 = matmul %2, %0 : f32[M,3]
%8 = tanh %7 : f32[M,3]
%9 = matmul %8, %1 : f32[M,4]
%10 = add %2, %9 : f32[M,4]
%11 = slice %10 axis=(-2) start=(-1 + M) stop=(M) step=(1) : f32[1,4]
%12 = add %3, %6 : f32[1,4]
output "y" %11
%11 = %12 exact
)");
}

// The ops of the operands of the new slices.
std::multiset<std::string_view> sliced(const Graph& graph) {
    const alternatives::Expansion expansion = checked_expansion(graph, "slice_product");
    const ir::GraphData& data = *expansion.graph;
    std::multiset<std::string_view> found;
    for (ir::NodeId id = 0; id < data.nodes().size(); ++id)
        if (data.node(id).op == ir::Op::slice && expansion.classes.expressions(id).size() == 1)
            found.insert(ir::info(data.node(data.node(id).operands[0]).op).name);
    return found;
}
using Ops = std::multiset<std::string_view>;

struct Model {
    Graph graph{"g"};
    Dim n = graph.symbol("N", 0, 4);
    Tensor x = graph.input("x", DType::f32, {n, 3, 4});
    Tensor weight(const std::string& name, Shape shape) { return graph.weight(name, DType::f32, std::move(shape)); }
    Tensor row(const std::string& name) { return weight(name, {4}); }
    Tensor linear(const Tensor& of, const std::string& name) {
        return matmul(of, weight(name, {4, 4})) + row(name + ".b");
    }
    Tensor norm(const Tensor& of, const std::string& name) {
        return layer_norm(of, row(name + ".g"), row(name + ".b"));
    }
    Tensor last(const Tensor& of) { return slice(of, 1, 2, 3); }
    const Graph& with(const Tensor& y) {
        graph.output("y" + std::to_string(outputs++), y);
        return graph;
    }
    int outputs = 0;
};

TEST(SliceProduct, ABlockOfTheLastToken) {
    Model m;
    const Tensor a = m.x + m.linear(tanh(m.x), "proj");
    const Tensor b = a + m.linear(gelu(m.linear(m.norm(a, "ln"), "up")), "down");
    EXPECT_EQ(sliced(m.with(m.last(b))), Ops{"input"});
    EXPECT_EQ(count_of_expressions(m.graph, "slice_product"), 1u);
}

TEST(SliceProduct, RowsColumnsAndBatchesOfTwoGivenMatrices) {
    const auto of_axis = [](int axis) {
        Model m;
        const Tensor y = m.graph.input("y", DType::f32, {2, 1, 4, 5}), x = m.graph.input("z", DType::f32, {3, 3, 4});
        return sliced(m.with(slice(matmul(x, y), axis, 1, 2)));
    };
    EXPECT_EQ(of_axis(-1), Ops{"input"}) << "columns of y";
    EXPECT_EQ(of_axis(-2), Ops{"input"}) << "rows of x";
    EXPECT_EQ(of_axis(-3), Ops{"input"}) << "batches of x, which those of y repeat for";
    EXPECT_EQ(of_axis(-4), Ops{"input"}) << "batches of y";
    Model square;
    const Tensor t = tanh(square.graph.input("t", DType::f32, {4, 4}));
    EXPECT_EQ(sliced(square.with(slice(matmul(t, t), 1, 0, 1))), Ops{"tanh"}) << "which the left side has whole";
}

TEST(SliceProduct, ASoftmaxOfTheLastQuery) {
    Model m;
    const Tensor scores = matmul(m.linear(m.x, "q"), swap_axes(m.x, 1, 2));
    EXPECT_EQ(sliced(m.with(m.last(softmax(scores * 0.5)))), Ops{"matmul"})
        << "a product of given matrices stays whole";
    EXPECT_EQ(count_of_expressions(m.graph, "slice_product"), 1u);
}

TEST(SliceProduct, KeepsProductsWithOtherReaders) {
    const auto count = [](void (*build)(Model&, const Tensor&)) {
        Model m;
        build(m, m.linear(m.x, "w"));
        return count_of_expressions(m.graph, "slice_product");
    };
    EXPECT_EQ(count([](Model& m, const Tensor& y) { m.with(m.last(y)); }), 1u);
    EXPECT_EQ(count([](Model& m, const Tensor& y) {
                  m.with(m.last(y));
                  m.with(y);
              }),
              0u)
        << "an output";
    EXPECT_EQ(count([](Model& m, const Tensor& y) { m.with(m.last(y) + tanh(y)); }), 0u);
    EXPECT_EQ(count([](Model& m, const Tensor& y) { m.with(m.last(y) + slice(y, 2, 0, 1)); }), 0u) << "other axes";
    EXPECT_EQ(count([](Model& m, const Tensor& y) { m.with(m.last(y) + slice(y, 1, 0, 1)); }), 2u) << "two rows";
    EXPECT_EQ(count([](Model& m, const Tensor& y) { m.with(m.last(y / max_reduce(y, {1}, true))); }), 1u)
        << "of the quotient, not of the product";
    EXPECT_EQ(count([](Model& m, const Tensor& y) { m.with(m.last(cumsum(y, 1))); }), 0u);
    EXPECT_EQ(count([](Model& m, const Tensor&) { m.with(m.last(m.x)); }), 0u);
    EXPECT_EQ(count([](Model& m, const Tensor&) { m.with(m.last(reshape(m.x, {m.n, 3, 4, 1}))); }), 0u);
}

// A view of a product that is computed in any case costs nothing, unless it must be copied.
TEST(SliceProduct, AllPartsOnlyIfOneIsAnOutput) {
    const auto count = [](int first_end, int second_start, bool shown) {
        Model m;
        const Tensor y = m.linear(m.x, "w"), first = slice(y, 2, 0, first_end), second = slice(y, 2, second_start, 4);
        m.with(sum(tanh(first), {2}) + sum(exp(second), {2}));
        if (shown) m.with(second);
        return count_of_expressions(m.graph, "slice_product");
    };
    EXPECT_EQ(count(2, 2, false), 0u);
    EXPECT_EQ(count(2, 2, true), 2u);
    EXPECT_EQ(count(3, 2, false), 0u);
    EXPECT_EQ(count(1, 2, false), 2u) << "one column is not read";
}

TEST(SliceProduct, ElementwiseOpsWithOneReader) {
    Model one, two;
    EXPECT_EQ(count_of_expressions(one.with(one.last(tanh(one.x) + 1)), "slice_product"), 1u);
    const Tensor y = tanh(two.x) + 1;
    EXPECT_EQ(count_of_expressions(two.with(two.last(y) * slice(y, 1, 0, 1)), "slice_product"), 0u)
        << "nothing to gain";
}

// One expression for each part of a merged product, up to a number of parts.
TEST(SliceProduct, AnyNumberUpToALimit) {
    for (const int count : {1, 2, 7, 16, 17}) {
        Graph g("g");
        const Tensor whole =
            matmul(g.input("x", DType::f32, {g.symbol("N", 0, 3), 4}), g.weight("w", DType::f32, {4, 2 * count}));
        for (int i = 0; i < count; ++i) g.output("y" + std::to_string(i), slice(whole, 1, 2 * i, 2 * i + 1));
        EXPECT_EQ(count_of_expressions(g, "slice_product"), count <= 16 ? static_cast<std::size_t>(count) : 0u);
    }
}

// For any depth that a slice is pushed down.
TEST(SliceProduct, GrowsWithTheGraph) {
    const auto added = [](int slices, int depth) {
        Graph g("g");
        Tensor x = g.input("x", DType::f32, {5, 6});
        for (int i = 0; i < slices; ++i) {
            Tensor y = tanh(x);
            for (int k = 0; k < depth; ++k)
                y = tanh(matmul(y, g.weight(std::to_string(i) + "." + std::to_string(k), DType::f32, {6, 6})));
            x = x + slice(y, 0, i % 5, i % 5 + 1);
        }
        g.output("x", x);
        const alternatives::Expansion expansion = alternatives::expand(*g.data());
        EXPECT_LE(expansion.classes.most(), 3u);
        return expansion.graph->nodes().size() - g.size();
    };
    EXPECT_LE(added(200, 1), 10 * added(20, 1));
    EXPECT_LE(added(10, 400), 10u * 200u) << "the rows of the slice go through 64 ops";
}

}  // namespace
}  // namespace cairn::test
