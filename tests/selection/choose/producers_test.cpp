#include "selection/choose/producers.hpp"

#include "cairn/cairn.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/selection/choose/bucket_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace cairn::selection {
namespace {

class ProducersTest : public testing::Test {
protected:
    ProducersTest() { costs.machine = nominal_machine(levels::baseline, 1); }
    void add_program() {
        programs.clear();
        programs.add(graph, kernels, costs);
    }
    Producers producers(Breadth breadth = Breadth::cheapest, const std::stop_token& stop = {}) {
        add_program();
        return Producers(programs.buckets()[0], breadth, stop);
    }
    std::optional<Goal> goal(const Tensor& tensor, OperandForm form, const char* layout = "") const {
        return goal_of({tensor.id(), form, layout}, programs.buckets()[0].candidates);
    }

    Graph graph{"g"};
    KernelSet kernels = cpu_kernels();
    CostModel costs;
    BucketSet programs;
};

Goal own(const Tensor& value) { return {value.id()}; }

TEST_F(ProducersTest, AnOperandDependsOnTheMemoryOfItsView) {
    State state = graph.state("s", DType::f32, {graph.symbol("P", 0, 7)}, 0, 8);
    const Tensor x = graph.input("x", DType::f32, {4, 6}), of_input = transpose(x, {1, 0}), made = exp(x),
                 view = transpose(made, {1, 0}), before = state.read(),
                 after = state.append(graph.input("row", DType::f32, {1}));
    add_program();
    EXPECT_EQ(goal(x, OperandForm::strided), std::nullopt) << "it is there";
    EXPECT_EQ(goal(of_input, OperandForm::strided), std::nullopt);
    EXPECT_EQ(goal(before, OperandForm::strided), std::nullopt);
    EXPECT_EQ(goal(after, OperandForm::strided), (Goal{after.id(), {true, {}}, false}));
    EXPECT_EQ(goal(made, OperandForm::strided), own(made));
    EXPECT_EQ(goal(view, OperandForm::strided), own(made));
    EXPECT_EQ(goal(view, OperandForm::dense), own(view));
    EXPECT_EQ(goal(of_input, OperandForm::dense), own(of_input));
    EXPECT_EQ(goal(before, OperandForm::dense), own(before)) << "its home is the state";
    EXPECT_EQ(goal(made, OperandForm::packed, "panel"), (Goal{made.id(), {false, "panel"}, false}));
}

TEST_F(ProducersTest, NeedsPrecedeUsers) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        graph = test::random_graph(seed);
        Producers all = producers();
        std::map<int, std::size_t> position;
        for (const int number : all.order()) ASSERT_TRUE(position.try_emplace(number, position.size()).second);
        for (const int number : all.order())
            for (const Producers::Producer* producer : all.producers(number))
                for (const int need : producer->needs)
                    if (position.contains(need)) { ASSERT_LT(position[need], position[number]) << "seed " << seed; }
        for (const Goal& root : all.roots()) ASSERT_TRUE(position.contains(all.find(root).value())) << to_string(root);
    }
}

TEST_F(ProducersTest, OnlyWeightsReadByRunsAreKept) {
    const Tensor x = graph.input("x", DType::f32, {64, 64}), w = graph.weight("w", DType::f32, {64, 64}), e = exp(w);
    graph.output("y", matmul(x, w));
    graph.output("z", x + e);
    const Producers all = producers();
    EXPECT_TRUE(all.find({w.id(), {}, true})) << "as stored";
    EXPECT_TRUE(all.find({e.id(), {}, true}));
    const auto order = all.order();
    const auto packed = std::count_if(order.begin(), order.end(), [&](int number) {
        return all.goal(number).kept && !all.goal(number).place.layout.empty();
    });
    EXPECT_GT(packed, 0) << "in the forms that kernels read";
    graph = Graph("only_bound");
    graph.output("y", exp(graph.weight("w", DType::f32, {64})));
    const Producers bound = producers();
    for (const int number : bound.order()) EXPECT_FALSE(bound.goal(number).kept) << to_string(bound.goal(number));
}

TEST_F(ProducersTest, WithoutASearchEachGoalHasOneProducer) {
    graph.output("y", gelu(linear(graph.input("x", DType::f32, {3, 64}), graph.weight("w", DType::f32, {64, 64}))));
    Producers first = producers(Breadth::first);
    for (const int number : first.order())
        EXPECT_EQ(first.producers(number).size(), 1U) << to_string(first.goal(number));
    EXPECT_GT(producers().order().size(), first.order().size());
}

TEST_F(ProducersTest, StopsOnRequest) {
    graph.output("y", exp(graph.input("x", DType::f32, {4})));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(producers(Breadth::cheapest, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace cairn::selection
