#include "selection/choose/select.hpp"

#include "cairn/cairn.hpp"
#include "tests/selection/choose/bucket_set.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cairn::selection {
namespace {

Kernel kernel(std::string id, Cost (*cost)(const Problem&)) {
    Kernel result;
    result.id = std::move(id);
    result.definition = "exp";
    result.accepts = [](const Problem&) -> Refusal { return {}; };
    result.cost = cost;
    return result;
}

/// exp(w) and exp(x) of a weight and an input of 4, and kernels that take one and two milliseconds.
class SelectTest : public testing::Test {
protected:
    SelectTest() {
        costs.machine.flops = costs.machine.bandwidth = 1e9;
        kernels.kernels = {kernel("slow@1",
                                  [](const Problem&) {
                                      return Cost{2e6, 0, 1};
                                  }),
                           kernel("quick@1", [](const Problem&) {
                               return Cost{1e6, 0, 1};
                           })};
        graph.output("a", exp(graph.weight("w", DType::f32, {4})));
        graph.output("b", exp(graph.input("x", DType::f32, {4})));
    }
    Selections selected_all(const Options& options = {}) {
        programs.clear();
        programs.add(graph, kernels, costs, 1, {}, {.elementwise = false});
        return select(programs.buckets(), options);
    }
    Selection selected(const Options& options = {}) { return selected_all(options).buckets.at(0); }
    static std::vector<std::string> ids(const Selection& selection) {
        std::vector<std::string> result;
        for (const Choice& choice : selection.chosen) result.push_back(choice.candidate.kernel->id);
        return result;
    }

    Graph graph{"g"};
    KernelSet kernels;
    CostModel costs;
    BucketSet programs;
};

using Ids = std::vector<std::string>;

TEST_F(SelectTest, TheCheapestIsSelectedAndOnlyRunsCount) {
    const Selections all = selected_all({.find_lower_bounds = true});
    EXPECT_EQ(ids(all.buckets.at(0)), (Ids{"quick@1", "quick@1"}));
    EXPECT_NEAR(all.buckets.at(0).seconds, 1e-3, 1e-6) << "what is made of the weight is made once";
    EXPECT_NEAR(all.low, 1e-3, 1e-6);
    EXPECT_TRUE(all.exact);
}

/// Of two kernels of similar time the one with less cross-core transfer; work done at bind transfers nothing.
TEST_F(SelectTest, CrossCoreTransferCountsOncePerCallOfARun) {
    Graph chain("g");
    const Tensor x = chain.input("x", DType::f32, {4});
    chain.output("y", exp(exp(x)));
    chain.output("z", exp(chain.weight("w", DType::f32, {4})));
    costs.machine.cross_core_transfer_seconds = 3e-3;
    programs.clear();
    programs.add(chain, kernels, costs, 1, {}, {.elementwise = false});
    const Selections apart = select(programs.buckets(), {.find_lower_bounds = true});
    EXPECT_NEAR(apart.buckets.at(0).seconds, 2 * (1e-3 + 3e-3), 1e-6);
    EXPECT_NEAR(apart.low, 2 * (1e-3 + 3e-3), 1e-6);
    EXPECT_NEAR(apart.cost, 2 * (1e-3 + 3e-3), 1e-4) << "once hardly counts, and less with what it would hand on";
    for (const Choice& choice : apart.buckets.at(0).chosen)
        EXPECT_NEAR(choice.candidate.estimate.seconds, 1e-3, 1e-6) << "its own time stays what it is";
    Kernel both = kernel("both@1", [](const Problem&) { return Cost{4e6, 0, 1}; });
    both.definition = "exp_exp";
    kernels.kernels.push_back(both);
    const Definition twice{
        "exp_exp",
        [](std::span<const Tensor> operands, const Attributes&) { return std::vector<Tensor>{exp(exp(operands[0]))}; },
        {"exp_exp | f32[R?,D]"}};
    const auto calls = [&](double cross_core_transfer) {
        costs.machine.cross_core_transfer_seconds = cross_core_transfer;
        programs.clear();
        programs.add(chain, kernels, costs, 1, std::span(&twice, 1), {.elementwise = false});
        std::size_t count = 0;
        for (const std::string& id : ids(select(programs.buckets()).buckets.at(0))) count += id == "both@1";
        return count;
    };
    EXPECT_EQ(calls(0), 0U) << "4 ms against twice 1";
    EXPECT_EQ(calls(3e-3), 1U) << "7 ms against twice 4";
}

TEST_F(SelectTest, WithoutASearchTheFirstAcceptingKernelIsSelected) {
    const Selections all = selected_all({.search = false});
    EXPECT_EQ(ids(all.buckets.at(0)), (Ids{"slow@1", "slow@1"}));
    EXPECT_EQ(all.low, 0);
}

TEST_F(SelectTest, AKernelThatCannotPrepareIsSkipped) {
    kernels.kernels[1].prepare = [](const Problem& problem, int) -> std::shared_ptr<const void> {
        if (problem.inputs[0].bound) throw std::runtime_error("no memory");
        return nullptr;
    };
    EXPECT_EQ(ids(selected()), (Ids{"quick@1", "slow@1"}));
    kernels.kernels[0].prepare = kernels.kernels[1].prepare;
    EXPECT_THROW(selected(), Error);
}

std::stop_source preparing_stop;
int prepared = 0;

TEST_F(SelectTest, AStopRequestIsObservedBetweenTwoPreparations) {
    kernels.kernels[1].prepare = [](const Problem&, int) -> std::shared_ptr<const void> {
        ++prepared;
        preparing_stop.request_stop();
        return nullptr;
    };
    EXPECT_THROW(selected({.stop = preparing_stop.get_token()}), Cancelled);
    EXPECT_EQ(prepared, 1);
}

TEST_F(SelectTest, WeightsReadByRunsAreKept) {
    graph.output("c", graph.input("z", DType::f32, {4}) * exp(graph.weight("v", DType::f32, {4})));
    kernels.kernels.push_back(kernel("mul@1", [](const Problem&) { return Cost{}; }));
    kernels.kernels.back().definition = "mul";
    EXPECT_EQ(selected_all().kept_bytes, 4 * sizeof(float));
}

TEST_F(SelectTest, PrintsOneLinePerChoice) {
    const std::string text = to_string(selected_all(), 0);
    EXPECT_NE(text.find("\nquick@1 0.001 s | exp | f32[4] -> f32[4]\nquick@1 0.001 s | exp | f32[4]! -> f32[4]\n"),
              std::string::npos)
        << text;
}

TEST_F(SelectTest, AGraphWithoutOutputsNeedsNothing) {
    graph = Graph("empty");
    EXPECT_TRUE(selected().chosen.empty());
    EXPECT_EQ(selected().seconds, 0);
}

}  // namespace
}  // namespace cairn::selection
