#include "cairn/ports.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

const GraphPort& port_called(const std::vector<GraphPort>& all, const std::string& name) {
    for (const GraphPort& port : all)
        if (port.name == name) return port;
    throw std::out_of_range(name);
}

TEST(Ports, AreListedByKindWithTheirTypes) {
    Graph g;
    const Dim n = g.symbol("N", 1, 9), past = g.symbol("past", 0, 6);
    const Tensor w = g.weight("w", DType::f16, {4, 3});
    State keys = g.state("keys", DType::f32, {2, past}, 1, 7);
    State hidden = g.state("hidden", DType::f32, {5});
    const Tensor x = g.input("x", DType::f32, {n, 4});
    g.output("y", matmul(x, cast(w, DType::f32)));
    const std::vector<GraphPort> all = ports(g);
    ASSERT_EQ(all.size(), 5u);
    const char* names[] = {"x", "w", "keys", "hidden", "y"};
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].name, names[i]);
    EXPECT_EQ(all[0].kind, GraphPort::Kind::input);
    EXPECT_EQ(to_string(all[0].dtype, all[0].shape), "f32[N,4]");
    EXPECT_EQ(all[1].kind, GraphPort::Kind::weight);
    EXPECT_EQ(all[1].dtype, DType::f16);
    EXPECT_EQ(all[2].axis, 1);
    EXPECT_EQ(all[2].capacity, 7);
    EXPECT_EQ(all[3].axis, -1);
    EXPECT_EQ(all[4].kind, GraphPort::Kind::output);
    EXPECT_EQ(to_string(all[4].dtype, all[4].shape), "f32[N,3]");
}

TEST(Ports, IndicesAreLimitedByTheIndexedAxis) {
    Graph g;
    const Dim n = g.symbol("N", 1, 9);
    const Tensor wide = g.weight("wide", DType::f32, {50, 4}), narrow = g.weight("narrow", DType::f32, {4, 20});
    const Tensor ids = g.input("ids", DType::i64, {n}), moved = g.input("moved", DType::i32, {3}),
                 both = g.input("both", DType::i64, {3}), count = g.input("count", DType::i64, {3}),
                 rows = g.input("rows", DType::f32, {n, 2}), row = g.input("row", DType::i64, {1});
    g.output("a", gather(wide, ids, 0));
    g.output("b", gather(narrow, cast(reshape(moved, {1, 3}) + 1, DType::i64), 1));
    g.output("c", gather(wide, both, 0));
    g.output("d", gather(narrow, both, 1));
    g.output("e", count * 2);
    g.output("f", gather(rows, row, 0));
    const std::vector<GraphPort> all = ports(g);
    const auto limit = [&](const char* name) { return port_called(all, name).index_limit; };
    EXPECT_EQ(limit("ids"), Dim(50));
    EXPECT_EQ(limit("moved"), Dim(20));
    EXPECT_EQ(limit("both"), Dim(20));
    EXPECT_EQ(limit("count"), std::nullopt);
    EXPECT_EQ(limit("rows"), std::nullopt);
    EXPECT_EQ(limit("row"), n);
}

TEST(Ports, IncludeATableOfIndicesThatIsIndexed) {
    Graph g;
    const Tensor table = g.input("table", DType::i64, {30}), at = g.input("at", DType::i64, {2});
    g.output("y", gather(g.weight("w", DType::f32, {8, 4}), gather(table, at, 0), 0));
    const std::vector<GraphPort> all = ports(g);
    EXPECT_EQ(port_called(all, "table").index_limit, Dim(8));
    EXPECT_EQ(port_called(all, "at").index_limit, Dim(30));
}

}  // namespace
}  // namespace cairn
