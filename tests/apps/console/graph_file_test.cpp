#include "apps/console/graph_file.hpp"

#include "cairn/ops.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

namespace cairn::console {
namespace {

using testing::StartsWith;

std::string graph_text() {
    Graph graph("sum");
    const Tensor x = graph.input("x", DType::f32, {graph.symbol("N", 1, 8), 16});
    graph.output("y", x + x);
    return to_string(graph);
}

TEST(GraphFile, ErrorsNameFileAndPosition) {
    const test::TempFolder temp;
    const std::string path = temp.write("g.cairn", graph_text()).string();
    EXPECT_EQ(to_string(read_graph(path)), graph_text());
    const std::string bad = temp.write("bad.cairn", "graph g\n%0 = input \"x\" : f33[2]\n").string();
    EXPECT_THAT(test::message([&] { read_graph(bad); }), StartsWith("[graph] " + bad + ": line 2, column "));
    EXPECT_THAT(test::message([&] { graph_of_text("graph g\n", "-"); }), StartsWith("[graph] standard input: "));
    EXPECT_THAT(test::message([&] { read_graph((temp / "none").string()); }), StartsWith("[read] "));
}

}  // namespace
}  // namespace cairn::console
