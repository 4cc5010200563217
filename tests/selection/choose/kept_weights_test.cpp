#include "selection/choose/kept_weights.hpp"

#include "cairn/cairn.hpp"
#include "tests/selection/choose/bucket_set.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace cairn::selection {
namespace {

/// The forms of weights that programs of several graphs keep.
class KeptWeightsTest : public testing::Test {
protected:
    KeptWeightsTest() { costs.machine = nominal_machine(levels::baseline, 1); }

    KeptWeights forms() {
        programs.clear();
        producers.clear();
        for (const Graph& graph : graphs) programs.add(graph, kernels, costs);
        for (const Bucket& bucket : programs.buckets())
            producers.emplace_back(bucket, Breadth::cheapest, std::stop_token());
        return KeptWeights(programs.buckets(), producers);
    }
    int number(const KeptWeights& forms, std::size_t bucket, const Tensor& value) const {
        return forms.form(bucket, producers[bucket].find({value.id(), {}, true}).value());
    }
    Graph& graph(int rows) {
        Graph& made = graphs.emplace_back("g");
        x = made.input("x", DType::f32, {rows, 64});
        return made;
    }

    KernelSet kernels = cpu_kernels();
    CostModel costs;
    std::deque<Graph> graphs;
    BucketSet programs;
    std::deque<Producers> producers;
    Tensor x;
};

TEST_F(KeptWeightsTest, AWeightOfAProductHasSeveralLayoutsAndABiasHasOne) {
    Graph& g = graph(3);
    const Tensor w = g.weight("w", DType::f32, {64, 64}), b = g.weight("b", DType::f32, {64});
    g.output("y", linear(x, w, b));
    const KeptWeights all = forms();
    EXPECT_TRUE(all.has_other_form(number(all, 0, w)));
    EXPECT_FALSE(all.has_other_form(number(all, 0, b)));
    EXPECT_EQ(all.readers(number(all, 0, b)), 1);
}

TEST_F(KeptWeightsTest, ADerivedValueIsAnotherLayoutOfTheWeight) {
    Graph& g = graph(3);
    const Tensor w = g.weight("w", DType::f32, {64}), v = g.weight("v", DType::f32, {64}), e = exp(w);
    g.output("y", x * e + w);
    g.output("z", x - sin(v));
    const KeptWeights all = forms();
    EXPECT_TRUE(all.has_other_form(number(all, 0, e)));
    EXPECT_TRUE(all.has_other_form(number(all, 0, w)));
}

TEST_F(KeptWeightsTest, WeightsOfOneDerivedValueAreOneFamily) {
    Graph& g = graph(3);
    const Tensor w = g.weight("w", DType::f32, {64}), v = g.weight("v", DType::f32, {64}),
                 u = g.weight("u", DType::f32, {64});
    g.output("y", x * w);
    g.output("z", x * v);
    g.output("u", x + u);
    KeptWeights all = forms();
    EXPECT_FALSE(all.has_other_form(number(all, 0, w)) || all.has_other_form(number(all, 0, v)));
    g.output("both", x - (w + v));
    all = forms();
    EXPECT_TRUE(all.has_other_form(number(all, 0, w)) && all.has_other_form(number(all, 0, v)));
    EXPECT_FALSE(all.has_other_form(number(all, 0, u)));
}

TEST_F(KeptWeightsTest, WeightsKeptByTwoProgramsAreShared) {
    std::vector<Tensor> values;
    for (const int rows : {1, 5}) {
        Graph& g = graph(rows);
        if (rows == 5) g.weight("other", DType::f32, {3});
        const Tensor w = g.weight("w", DType::f32, {64});
        g.output("y", x * w);
        values.push_back(w);
    }
    const KeptWeights all = forms();
    EXPECT_NE(values[0].id(), values[1].id());
    EXPECT_EQ(number(all, 0, values[0]), number(all, 1, values[1]));
    EXPECT_EQ(all.readers(number(all, 0, values[0])), 2);
    EXPECT_EQ(all.size(), 1);
}

}  // namespace
}  // namespace cairn::selection
