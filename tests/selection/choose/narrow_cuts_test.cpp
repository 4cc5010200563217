#include "selection/choose/narrow_cuts.hpp"

#include "cairn/cairn.hpp"
#include "tests/selection/choose/bucket_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cairn::selection {
namespace {

class NarrowCutsTest : public testing::Test {
protected:
    NarrowCutsTest() { costs.machine = nominal_machine(levels::baseline, 1); }
    void add_program() { programs.add(graph, kernels, costs); }
    const Bucket& bucket() const { return programs.buckets()[0]; }

    /// x + gelu(x a) b, with weights of its own.
    Tensor block(const Tensor& x, int number) {
        const std::string name = std::to_string(number);
        const Tensor inner = gelu(matmul(x, graph.weight("a" + name, DType::f32, {16, 32})));
        return x + matmul(inner, graph.weight("b" + name, DType::f32, {32, 16}));
    }

    Graph graph{"g"};
    KernelSet kernels = cpu_kernels();
    CostModel costs;
    BucketSet programs;
};

TEST_F(NarrowCutsTest, ValuesBetweenBlocksAreTransferable) {
    std::vector<Tensor> between{exp(graph.input("x", DType::f32, {4, 16}))};
    for (int i = 0; i < 6; ++i) between.push_back(block(between.back(), i));
    graph.output("y", between.back());
    add_program();
    std::vector<bool> expected(graph.data()->nodes().size(), false);
    for (const Tensor& value : between) expected[value.id()] = true;
    EXPECT_EQ(transferable_values(bucket()), expected);
}

TEST_F(NarrowCutsTest, WithoutNarrowCutsOnlyOutputsAndCopiesAreTransferable) {
    std::vector<Tensor> side_by_side;
    for (int i = 0; i < 9; ++i) side_by_side.push_back(exp(graph.input("x" + std::to_string(i), DType::f32, {4})));
    for (int step = 0; step < 6; ++step)
        for (int i = 0; i < 9; ++i)
            side_by_side[static_cast<std::size_t>(i)] =
                tanh(side_by_side[static_cast<std::size_t>(i)] + side_by_side[static_cast<std::size_t>((i + 1) % 9)]);
    const Tensor pinned = copy_to(side_by_side[3], Device::cuda());
    std::vector<bool> expected;
    for (int i = 0; i < 9; ++i)
        graph.output("y" + std::to_string(i), i == 3 ? pinned : side_by_side[static_cast<std::size_t>(i)]);
    add_program();
    expected.resize(graph.data()->nodes().size(), false);
    for (const ir::Output& output : graph.data()->outputs()) expected[output.node] = true;
    EXPECT_EQ(transferable_values(bucket()), expected);
}

TEST_F(NarrowCutsTest, NarrowCutsSeparateTheWeightsOfBlocks) {
    Tensor x = graph.input("x", DType::f32, {4, 16});
    for (int i = 0; i < 6; ++i) x = block(x, i);
    graph.output("y", x);
    add_program();
    Producers producers(bucket(), Breadth::cheapest, {});
    const std::vector<std::size_t> cuts = narrow_cuts(bucket(), producers);
    ASSERT_GE(cuts.size(), 6U);
    EXPECT_EQ(cuts.back(), producers.order().size());
    // No weight is kept across a cut.
    for (const std::size_t cut : cuts)
        for (std::size_t i = cut; i < producers.order().size(); ++i)
            for (const Producers::Producer* producer : producers.producers(producers.order()[i]))
                for (const int need : producer->needs) {
                    const auto order = producers.order();
                    const auto at =
                        static_cast<std::size_t>(std::find(order.begin(), order.end(), need) - order.begin());
                    EXPECT_FALSE(producers.goal(need).kept && at < cut) << to_string(producers.goal(need));
                }
}

}  // namespace
}  // namespace cairn::selection
