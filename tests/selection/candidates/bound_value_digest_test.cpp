#include "selection/candidates/bound_value_digest.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace cairn::selection {
namespace {

std::vector<std::string> origins(const Graph& graph) { return bound_value_digests(*graph.data()); }

TEST(BoundValueDigest, ExistOnlyForValuesOfWeightsAndConstants) {
    Graph graph("g");
    const Dim n = graph.symbol("N", 1, 8);
    const Tensor x = graph.input("x", DType::f32, {4}), w = graph.weight("w", DType::f32, {4});
    const Tensor made = exp(w) * 2.0, mixed = made + x, repeated = broadcast(w, {n, 4}), of_it = exp(repeated);
    graph.output("y", mixed);
    graph.output("z", of_it);
    const std::vector<std::string> all = origins(graph);
    for (const Tensor& once : {w, made}) EXPECT_NE(all[once.id()], "");
    for (const Tensor& in_a_run : {x, mixed, repeated, of_it}) EXPECT_EQ(all[in_a_run.id()], "") << in_a_run.id();
}

// Other ids, other run-time sizes, another graph: the same value. Another name, number, order or attribute: a different
// one.
TEST(BoundValueDigest, AreEqualForEqualValues) {
    Graph one("one"), two("two");
    two.output("first", two.input("x", DType::f32, {9}) + 1.0);
    const auto weight = [](Graph& graph, const char* name) { return graph.weight(name, DType::f32, {4, 4}); };
    const Tensor w = weight(one, "w"), u = weight(one, "u");
    const Tensor in_first = exp(w) * 2.0, in_second = exp(weight(two, "w")) * 2.0;
    EXPECT_EQ(origins(one)[in_first.id()], origins(two)[in_second.id()]);
    std::set<std::string> others{origins(one)[in_first.id()]};
    const std::vector<Tensor> different{
        exp(u) * 2.0,        exp(w) * 3.0, u - w, w - u, slice(w, 0, Dim(0), Dim(2)), slice(w, 0, Dim(1), Dim(3)),
        transpose(w, {1, 0})};
    for (const Tensor& value : different) EXPECT_TRUE(others.insert(origins(one)[value.id()]).second) << value.id();
}

TEST(BoundValueDigest, StopOnRequest) {
    Graph graph("g");
    graph.output("y", exp(graph.weight("w", DType::f32, {4})));
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(bound_value_digests(*graph.data(), source.get_token()), Cancelled);
}

}  // namespace
}  // namespace cairn::selection
