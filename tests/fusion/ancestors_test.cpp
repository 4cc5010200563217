#include "fusion/ancestors.hpp"

#include "cairn/cairn.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::fusion {
namespace {

// Reference implementation: follows each operand.
bool rests_on(const ir::GraphData& graph, ir::NodeId node, ir::NodeId ancestor) {
    std::vector<bool> rests(graph.nodes().size(), false);
    rests[ancestor] = true;
    for (ir::NodeId id = ancestor + 1; id <= node; ++id)
        for (const ir::NodeId operand : graph.node(id).operands) rests[id] = rests[id] || rests[operand];
    return rests[node];
}

TEST(Ancestors, AreExactInSmallGraphs) {
    int resting = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Graph built = test::random_graph(seed);
        const ir::GraphData& graph = *built.data();
        ASSERT_LT(graph.nodes().size(), 256u);
        const alternatives::EClasses classes(graph);
        Ancestors ancestors(graph, classes, {});
        for (ir::NodeId node = 0; node < graph.nodes().size(); ++node)
            for (ir::NodeId other = 0; other < graph.nodes().size(); ++other) {
                const bool expected = other <= node && rests_on(graph, node, other);
                EXPECT_EQ(ancestors.may_depend_on(node, other), expected) << seed << ": " << node << " on " << other;
                resting += expected;
            }
    }
    EXPECT_GT(resting, 1000);
}

TEST(Ancestors, AreConservativeInLargeGraphs) {
    Graph graph("g");
    const Tensor other = graph.input("other", DType::f32, {2});
    Tensor x = graph.input("x", DType::f32, {2});
    std::vector<ir::NodeId> chain{x.id()};
    for (int i = 0; i < 300; ++i) chain.push_back((x = tanh(x)).id());
    const alternatives::EClasses classes(*graph.data());
    Ancestors ancestors(*graph.data(), classes, {});
    EXPECT_FALSE(ancestors.may_depend_on(chain[255], other.id())) << "256 values above it";
    EXPECT_TRUE(ancestors.may_depend_on(chain[256], other.id())) << "257 are too many to look at";
    EXPECT_TRUE(ancestors.may_depend_on(chain[300], chain[0]));
    EXPECT_FALSE(ancestors.may_depend_on(chain[10], chain[11]));
}

TEST(Ancestors, IncludeThoseOfEveryExpression) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {2}), y = graph.input("y", DType::f32, {2});
    const Tensor a = tanh(x), b = sin(y), other = exp(b), user = neg(a);
    alternatives::EClasses classes(*graph.data());
    Ancestors alone(*graph.data(), classes, {});
    EXPECT_FALSE(alone.may_depend_on(user.id(), b.id()));
    alternatives::EClasses merged(*graph.data());
    merged.join(a.id(), other.id(), {});
    Ancestors ancestors(*graph.data(), merged, {});
    EXPECT_TRUE(ancestors.may_depend_on(user.id(), b.id()));
    EXPECT_TRUE(ancestors.may_depend_on(user.id(), a.id()));
    EXPECT_FALSE(ancestors.may_depend_on(a.id(), b.id())) << "a node as it is";
}

TEST(Ancestors, StopOnRequest) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {2});
    const Tensor y = tanh(x);
    std::stop_source source;
    source.request_stop();
    const alternatives::EClasses classes(*graph.data());
    Ancestors ancestors(*graph.data(), classes, source.get_token());
    EXPECT_THROW(ancestors.may_depend_on(y.id(), x.id()), Cancelled);
}

}  // namespace
}  // namespace cairn::fusion
