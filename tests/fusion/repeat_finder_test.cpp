#include "fusion/repeat_finder.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"
#include "tests/fusion/random_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {
namespace {

using ir::NodeId;
using T = const Tensor&;

/// A graph whose nodes are passed in order.
struct Passed {
    explicit Passed(const Graph& made) : graph(made), classes(*graph.data()), forms(*graph.data()) {}

    /// The distance from each node back to the node it repeats; 0 if it repeats none.
    std::vector<NodeId> shifts() {
        std::vector<NodeId> result;
        while (result.size() < graph.size())
            result.push_back(repeats.pass(static_cast<NodeId>(result.size())) ? repeats.shift() : 0);
        return result;
    }

    Graph graph;
    alternatives::EClasses classes;
    normal_form::NormalForms forms;
    fusion::RepeatFinder repeats{*graph.data(), classes, forms};
};

constexpr int count = 20;

/// Layers exp(tanh(x w) / 2), each with its own weight; all weights come first. Another layer may replace the one of
/// index 12.
Graph layers(const std::function<Tensor(Graph&, const Tensor& x, const std::vector<Tensor>& w)>& twelfth = {}) {
    Graph graph("layers");
    std::vector<Tensor> w;
    for (int i = 0; i < count; ++i) w.push_back(graph.weight("w" + std::to_string(i), DType::f32, {4, 4}));
    Tensor x = graph.input("x", DType::f32, {3, 4});
    for (std::size_t i = 0; i < count; ++i)
        x = i == 12 && twelfth ? twelfth(graph, x, w) : exp(tanh(matmul(x, w[i])) * 0.5);
    graph.output("y", x);
    return graph;
}

TEST(RepeatFinder, LayersRepeatThePreviousOne) {
    Passed passed(layers());
    const std::vector<NodeId> shifts = passed.shifts();
    const std::vector<NodeId> last(shifts.end() - 56, shifts.end());
    EXPECT_EQ(last, std::vector<NodeId>(56, 4));
    const auto end = static_cast<NodeId>(shifts.size());
    EXPECT_TRUE(passed.repeats.has_counterpart(end - 5));
    EXPECT_EQ(passed.repeats.counterpart_of(end - 5), end - 1);
}

TEST(RepeatFinder, EachWeightHasOneCounterpart) {
    Passed passed(layers());
    passed.shifts();
    EXPECT_TRUE(passed.repeats.has_counterpart(count - 2));
    EXPECT_EQ(passed.repeats.counterpart_of(count - 2), NodeId{count - 1});
    EXPECT_FALSE(passed.repeats.has_counterpart(count - 1)) << "the last has no counterpart";
    EXPECT_FALSE(passed.repeats.has_counterpart(0)) << "what the first reads is before any stretch";
}

TEST(RepeatFinder, DifferentLayersDoNotRepeat) {
    using Weights = std::vector<Tensor>;
    const auto begins_anew = [](const std::function<Tensor(Graph&, T x, const Weights& w)>& other) {
        Passed passed(layers(other));
        const std::vector<NodeId> shifts = passed.shifts();
        EXPECT_NE(shifts.back(), 0u);
        return passed.repeats.begin() > shifts.size() - 36;
    };
    EXPECT_FALSE(begins_anew([](Graph&, T x, const Weights& w) { return exp(tanh(matmul(x, w[12])) * 0.5); }));
    EXPECT_TRUE(begins_anew([](Graph&, T x, const Weights& w) { return exp(tanh(matmul(x, w[12])) * 0.25); }));
    EXPECT_TRUE(begins_anew([](Graph&, T x, const Weights& w) { return exp(sin(matmul(x, w[12])) * 0.5); }));
    EXPECT_TRUE(begins_anew([](Graph&, T x, const Weights& w) { return exp(tanh(matmul(x, w[9])) * 0.5); }));
    EXPECT_TRUE(begins_anew([](Graph& g, T x, const Weights&) {
        return exp(tanh(matmul(x, g.input("w", DType::f32, {4, 4}))) * 0.5);
    }));
    EXPECT_TRUE(begins_anew([](Graph&, T x, const Weights& w) { return exp(tanh(matmul(x, w[12] * w[13])) * 0.5); }));
}

TEST(RepeatFinder, ASharedValueIsItsOwnCounterpart) {
    Graph graph("g");
    const Tensor mask = cos(sin(graph.input("mask", DType::f32, {3, 4})));
    Tensor x = graph.input("x", DType::f32, {3, 4});
    for (int i = 0; i < 20; ++i) x = tanh(exp(x) * mask);
    Passed passed(graph);
    passed.shifts();
    ASSERT_NE(passed.repeats.shift(), 0u);
    for (NodeId id = 0; id < 3; ++id) {
        EXPECT_TRUE(passed.repeats.has_counterpart(id)) << id;
        EXPECT_EQ(passed.repeats.counterpart_of(id), id);
    }
}

bool same_kind(const ir::Node& a, const ir::Node& b) {
    return a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && a.attributes == b.attributes &&
           a.operands.size() == b.operands.size() && (a.values == b.values || *a.values == *b.values);
}

/// Checks the counterparts of nodes by their operands: no two nodes have the same counterpart, and the operands of a
/// counterpart are the counterparts of the operands. Returns how many nodes in repeated sequences, and from before
/// them, had one.
std::pair<std::size_t, std::size_t> known_in(const Graph& graph) {
    Passed passed(graph);
    const auto& nodes = passed.graph.data()->nodes();
    std::size_t inside = 0, before = 0;
    for (NodeId id = 0; id < nodes.size(); ++id) {
        if (!passed.repeats.pass(id)) continue;
        EXPECT_TRUE(same_kind(nodes[id], nodes[id - passed.repeats.shift()])) << "%" << id;
        if (id % 7 != 0) continue;
        std::set<NodeId> counterparts;
        for (NodeId earlier = 0; earlier + passed.repeats.shift() <= id; ++earlier) {
            if (!passed.repeats.has_counterpart(earlier)) continue;
            const NodeId later = passed.repeats.counterpart_of(earlier);
            ++(earlier < passed.repeats.begin() ? before : inside);
            EXPECT_TRUE(counterparts.insert(later).second) << "%" << earlier;
            EXPECT_TRUE(same_kind(nodes[earlier], nodes[later])) << "%" << earlier;
            for (std::size_t i = 0; i < nodes[earlier].operands.size(); ++i) {
                const NodeId operand = nodes[earlier].operands[i];
                if (!passed.repeats.has_counterpart(operand)) continue;
                EXPECT_EQ(passed.repeats.counterpart_of(operand), nodes[later].operands[i]) << "%" << earlier;
            }
        }
    }
    return {inside, before};
}

TEST(RepeatFinder, RepeatedSequencesOfRandomLayersHaveEqualForm) {
    std::size_t inside = 0, before = 0;
    for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        const auto [more_inside, more_before] = known_in(random_layers(seed, 16));
        inside += more_inside, before += more_before;
    }
    EXPECT_GT(inside, 10'000u);
    EXPECT_GT(before, 5'000u);
}

// A weight cannot belong to one layer and to all.
TEST(RepeatFinder, ASharedValueDependsOnlyOnSharedValues) {
    for (std::size_t shared = 0; shared < count; ++shared) {
        SCOPED_TRACE(shared);
        Graph graph("g");
        std::vector<Tensor> w;
        for (int i = 0; i < count; ++i) w.push_back(graph.weight("w" + std::to_string(i), DType::f32, {4, 4}));
        const Tensor mask = cos(sin(w[shared]));
        Tensor x = graph.input("x", DType::f32, {4, 4});
        for (std::size_t i = 0; i < count; ++i) x = exp(tanh(matmul(x, w[i]))) * mask;
        graph.output("y", x);
        known_in(graph);
    }
}

}  // namespace
}  // namespace cairn::test
