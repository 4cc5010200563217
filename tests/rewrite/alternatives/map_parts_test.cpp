#include "equivalence_cases.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(MapParts, RowsOfAWidenedTable) {
    EXPECT_EQ(expanded(R"(
%0 = input "ids.below7" : i32[N,M]
%1 = weight "table" : bf16[7,4]
%2 = cast %1 dtype=(1) : f32[7,4]
%3 = gather %2, %0 axis=(-2) : f32[N,M,4]
output "y" %3
)",
                       "map_parts"),
              R"(
%0 = weight "table" : bf16[7,4]
%1 = cast %0 dtype=(1) : f32[7,4]
%2 = input "ids.below7" : i32[N,M]
%3 = gather %0, %2 axis=(-2) : bf16[N,M,4]
%4 = gather %1, %2 axis=(-2) : f32[N,M,4]
%5 = cast %3 dtype=(1) : f32[N,M,4]
output "y" %4
%4 = %5 exact
)");
}

TEST(MapParts, ValuesComputedFromRowsInEachRun) {
    EXPECT_EQ(expanded(R"(
%0 = input "ids.below7" : i32[N]
%1 = weight "table" : f16[7,4]
%2 = gather %1, %0 axis=(-2) : f16[N,4]
%3 = cast %2 dtype=(1) : f32[N,4]
%4 = weight "scale" : f32[4]
%5 = mul %3, %4 : f32[N,4]
output "y" %5
)",
                       "map_parts"),
              R"(
%0 = weight "table" : f16[7,4]
%1 = weight "scale" : f32[4]
%2 = cast %0 dtype=(1) : f32[7,4]
%3 = mul %2, %1 : f32[7,4]
%4 = input "ids.below7" : i32[N]
%5 = gather %0, %4 axis=(-2) : f16[N,4]
%6 = cast %5 dtype=(1) : f32[N,4]
%7 = gather %2, %4 axis=(-2) : f32[N,4]
%8 = mul %6, %1 : f32[N,4]
%9 = gather %3, %4 axis=(-2) : f32[N,4]
output "y" %8
%6 = %7 exact
%8 = %9 exact
)");
}

TEST(MapParts, ASliceOfSymbolicSize) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,4]
%1 = weight "table" : f16[5,4]
%2 = cast %1 dtype=(1) : f32[5,4]
%3 = slice %2 axis=(-2) start=(0) stop=(N) step=(1) : f32[N,4]
%4 = add %0, %3 : f32[N,4]
output "y" %4
)",
                       "map_parts"),
              R"(
%0 = weight "table" : f16[5,4]
%1 = cast %0 dtype=(1) : f32[5,4]
%2 = slice %0 axis=(-2) start=(0) stop=(N) step=(1) : f16[N,4]
%3 = input "x" : f32[N,4]
%4 = slice %1 axis=(-2) start=(0) stop=(N) step=(1) : f32[N,4]
%5 = cast %2 dtype=(1) : f32[N,4]
%6 = add %3, %4 : f32[N,4]
output "y" %6
%4 = %5 exact
)");
}

struct Table {
    Graph graph{"g"};
    Tensor ids = graph.input("ids.below5", DType::i32, {graph.symbol("N", 0, 4)});
    Tensor table = graph.weight("table", DType::bf16, {5, 5}), row = graph.weight("row", DType::f32, {5}),
           column = graph.weight("column", DType::f32, {5, 1}), given = graph.input("given", DType::f32, {5});
    Tensor wide() const { return cast(table, DType::f32); }
    Tensor rows() const { return cast(gather(table, ids), DType::f32); }
};

// The number of further expressions of the values computed from a table.
std::size_t expressions_of(Tensor (*made)(const Table&)) {
    Table t;
    t.graph.output("y", made(t));
    return count_of_expressions(t.graph, "map_parts");
}
using T = const Table&;

TEST(MapParts, AnyElementwiseOp) {
    EXPECT_EQ(expressions_of([](T t) { return gather(t.wide(), t.ids); }), 1u);
    EXPECT_EQ(expressions_of([](T t) { return gather(relu(t.wide()), t.ids); }), 2u) << "with each op";
    EXPECT_EQ(expressions_of([](T t) { return gather(t.row - t.wide(), t.ids); }), 2u);
    EXPECT_EQ(expressions_of([](T t) { return gather(where(t.wide() > t.row, t.row, 1.0), t.ids); }), 3u);
    EXPECT_EQ(expressions_of([](T t) { return t.rows(); }), 1u);
    EXPECT_EQ(expressions_of([](T t) { return tanh(t.rows()) * t.row; }), 3u) << "each value on the way";
    EXPECT_EQ(expressions_of([](T t) { return t.rows() * t.rows() + t.row; }), 3u);
    EXPECT_EQ(expressions_of([](T t) { return exp(t.rows()) + sin(t.rows()); }), 3u) << "what several read";
}

TEST(MapParts, OnlyOfBoundValuesEqualInEveryPart) {
    EXPECT_EQ(expressions_of([](T t) { return t.rows() * t.given; }), 1u) << "the cast alone";
    EXPECT_EQ(expressions_of([](T t) { return gather(t.wide() * t.column, t.ids); }), 0u);
    EXPECT_EQ(expressions_of([](T t) { return gather(t.column + t.row, t.ids); }), 0u) << "repeated by the sum";
    EXPECT_EQ(expressions_of([](T t) { return gather(t.wide(), t.ids, 1); }), 1u) << "columns";
    EXPECT_EQ(expressions_of([](T t) { return gather(t.wide() * t.row, t.ids, 1); }), 0u) << "a row has columns";
    EXPECT_EQ(expressions_of([](T t) { return slice(t.wide(), 0, 1, 3); }), 0u) << "bound itself";
    EXPECT_EQ(expressions_of([](T t) { return gather(cumsum(t.wide(), 0), t.ids); }), 0u);
}

TEST(MapParts, GrowsWithTheGraph) {
    const auto size = [](int tables, int ops, int users) {
        Graph g("g");
        const Tensor ids = g.input("ids.below5", DType::i32, {3});
        for (int i = 0; i < tables; ++i) {
            Tensor table = g.weight("t" + std::to_string(i), DType::f16, {5, 4});
            for (int k = 0; k < ops; ++k) table = tanh(table);
            Tensor rows = gather(table, ids);
            for (int k = 0; k < ops; ++k) rows = tanh(rows);
            for (int k = 0; k < users; ++k) g.output(std::to_string(i) + "." + std::to_string(k), rows * (k + 0.5));
        }
        return alternatives::expand(*g.data()).graph->nodes().size();
    };
    EXPECT_LE(size(200, 2, 2), 10 * size(20, 2, 2));
    EXPECT_LE(size(1, 400, 1), 2u * 400u + 100u);
    EXPECT_LE(size(1, 0, 4000), 2u * 4000u + 100u);
}

}  // namespace
}  // namespace cairn::test
