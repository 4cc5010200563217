#include "selection/choose/memo.hpp"

#include "cairn/cairn.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/selection/choose/bucket_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::selection {
namespace {

/// A kernel that takes as many milliseconds as its version.
template <int milliseconds>
Kernel kernel(std::string definition) {
    Kernel result;
    result.id = definition + "@" + std::to_string(milliseconds);
    result.definition = std::move(definition);
    result.accepts = [](const Problem&) -> Refusal { return {}; };
    result.cost = [](const Problem&) { return Cost{milliseconds * 1e6, 0, 1}; };
    return result;
}

class MemoTest : public testing::Test {
protected:
    MemoTest() { costs.machine.flops = costs.machine.bandwidth = 1e9; }

    Memo memo(Breadth breadth = Breadth::cheapest, const std::vector<Definition>& definitions = {},
              bool elementwise = false) {
        programs.clear();
        programs.add(graph, kernels, costs, 1, definitions, {.elementwise = elementwise});
        return memo_of(programs.buckets(), breadth);
    }
    static int number(const Memo& memo, const Goal& goal) {
        const auto it = std::find_if(memo.goals.begin(), memo.goals.end(),
                                     [&](const Memo::Request& request) { return request.goal == goal; });
        return it == memo.goals.end() ? -1 : static_cast<int>(it - memo.goals.begin());
    }
    static Goal own(const Tensor& value) { return {value.id(), {}, false}; }
    static Goal kept(const Tensor& value) { return {value.id(), {}, true}; }
    static Goal in_state(const Tensor& value) { return {value.id(), {true, {}}, false}; }
    static std::vector<Goal> roots(const Memo& memo) {
        std::vector<Goal> goals;
        for (const int root : memo.problem.roots()) goals.push_back(memo.goals[static_cast<std::size_t>(root)].goal);
        return goals;
    }
    /// The ids of the kernels of a goal's alternatives.
    static std::vector<std::string> kernels_at(const Memo& memo, int goal) {
        std::vector<std::string> ids;
        for (int choice = memo.problem.first(goal); choice < memo.problem.first(goal + 1); ++choice) {
            const Kernel* const kernel = memo.candidate(choice).kernel;
            ids.push_back(kernel == nullptr ? "none" : kernel->id);
        }
        return ids;
    }
    Graph graph{"g"};
    KernelSet kernels;
    CostModel costs;
    BucketSet programs;
};

using Ids = std::vector<std::string>;

TEST_F(MemoTest, NeedsPrecedeUsers) {
    kernels = cpu_kernels();
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        graph = test::random_graph(seed);
        const Memo m = memo(Breadth::cheapest, kernels.definitions, true);
        ASSERT_EQ(m.problem.goals(), static_cast<int>(m.goals.size()));
        ASSERT_EQ(m.problem.alternatives(), static_cast<int>(m.candidates.size()));
        ASSERT_EQ(search::fault(m.problem), "") << "seed " << seed;
    }
}

TEST_F(MemoTest, OfEqualNeedsTheCheapestAndFirstIsKept) {
    kernels.kernels = {kernel<3>("exp"), kernel<2>("exp"), kernel<2>("exp")};
    kernels.kernels[2].id = "exp@last";
    const Tensor y = exp(graph.input("x", DType::f32, {4}));
    graph.output("y", y);
    Memo m = memo();
    ASSERT_EQ(m.goals.size(), 1U);
    EXPECT_EQ(kernels_at(m, 0), Ids{"exp@2"});
    EXPECT_NEAR(m.problem.cost(0), 2e-3, 1e-6);
    m = memo(Breadth::first);
    EXPECT_EQ(kernels_at(m, 0), Ids{"exp@3"}) << "without a search the first that accepts";
    m = memo(Breadth::all);
    EXPECT_EQ(kernels_at(m, 0), (Ids{"exp@3", "exp@2", "exp@last"}));
}

TEST_F(MemoTest, WithoutASearchNothingIsFusedOrPacked) {
    kernels = cpu_kernels();
    const Tensor x = graph.input("x", DType::f32, {3, 64}), w = graph.weight("w", DType::f32, {64, 64});
    graph.output("y", gelu(linear(x, w)));
    const Memo m = memo(Breadth::first, kernels.definitions, true);
    for (std::size_t g = 0; g < m.goals.size(); ++g) {
        const int choice = m.problem.first(static_cast<int>(g));
        EXPECT_EQ(m.problem.first(static_cast<int>(g) + 1), choice + 1);
        EXPECT_EQ(m.goals[g].goal.place, PhysicalProperties{}) << to_string(m.goals[g].goal);
        EXPECT_EQ(m.candidate(choice).outputs.size(), m.goals[g].goal.kept ? 0U : 1U);
    }
    EXPECT_GT(memo(Breadth::cheapest, kernels.definitions, true).goals.size(), m.goals.size());
}

TEST_F(MemoTest, AnOutputIsReadableMemory) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("copy")};
    const Tensor x = graph.input("x", DType::f32, {4, 6}), made = exp(x), moved = transpose(made, {1, 0}),
                 part = slice(made, 0, 1, 3), flat = reshape(made, {24});
    graph.output("x", x);
    EXPECT_TRUE(memo().problem.roots().empty()) << "an input that is an output is there";
    graph.output("flat", flat);
    graph.output("part", part);
    EXPECT_EQ(roots(memo()), (std::vector<Goal>{own(made)})) << "rows and reshapes are read where they lie";
    graph.output("moved", moved);
    const Memo m = memo();
    EXPECT_EQ(roots(m), (std::vector<Goal>{own(made), own(moved)}));
    EXPECT_EQ(kernels_at(m, number(m, own(moved))), (Ids{"exp@1", "copy@1"}));
}

// A reshape of an entire value shares that value's memory; a copy of it does not.
TEST_F(MemoTest, ACopyDoesNotProvideWhatItCopies) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("copy"), kernel<1>("matmul")};
    kernels.kernels[2].accepts = [](const Problem& problem) -> Refusal {
        return problem.inputs[0].is_dense() ? "" : "needs a dense operand";
    };
    const Tensor made = exp(graph.input("x", DType::f32, {24})), matrix = reshape(made, {6, 4});
    graph.output("y", matmul(transpose(matrix, {1, 0}), matrix));
    const Memo m = memo();
    EXPECT_EQ(search::fault(m.problem), "");
    EXPECT_GE(number(m, own(matrix)), 0) << "where one operand must be dense, all are";
    for (int choice = 0; choice < m.problem.alternatives(); ++choice)
        EXPECT_TRUE(m.problem.alternative(choice).provides.empty());
}

TEST_F(MemoTest, AStateThatIsAnOutputIsCopied) {
    kernels.kernels = {kernel<1>("copy")};
    State state = graph.state("s", DType::f32, {graph.symbol("P", 0, 7)}, 0, 8);
    const Tensor before = state.read(), after = state.append(graph.input("x", DType::f32, {1}));
    graph.output("after", after);
    const Memo m = memo();
    EXPECT_GE(number(m, in_state(after)), 0) << "committed";
    EXPECT_GT(number(m, own(after)), number(m, in_state(after)));
    EXPECT_EQ(m.problem.roots().size(), 2U);
    EXPECT_EQ(number(m, in_state(before)), -1);
}

TEST_F(MemoTest, WorkOnWeightsHasLittleCost) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("mul")};
    const Tensor w = graph.weight("w", DType::f32, {1000}), e = exp(w), x = graph.input("x", DType::f32, {1000});
    graph.output("y", x * e);
    const Memo m = memo();
    const auto cost = [&](int goal) { return m.problem.cost(m.problem.first(goal)); };
    EXPECT_NEAR(cost(number(m, own(e))), 1e-6, 1e-8) << "a thousandth of its millisecond";
    EXPECT_EQ(number(m, kept(e)), -1) << "there is no other form to keep";
    EXPECT_EQ(number(m, kept(w)), -1) << "only the bind section reads it";
    EXPECT_EQ(m.always_kept_bytes, 4000);
}

TEST_F(MemoTest, LayoutsOfAWeightCostByTheByte) {
    kernels = cpu_kernels();
    const Tensor w = graph.weight("w", DType::f32, {64, 64}), b = graph.weight("b", DType::f32, {64});
    graph.output("y", linear(graph.input("x", DType::f32, {3, 64}), w, b));
    const Memo m = memo(Breadth::cheapest, kernels.definitions);
    int forms = 0;
    for (std::size_t g = 0; g < m.goals.size(); ++g) {
        const Memo::Request& request = m.goals[g];
        if (!request.goal.kept) continue;
        ++forms;
        EXPECT_EQ(request.goal.value, w.id());
        EXPECT_EQ(request.bytes, 64 * 64 * 4);
        EXPECT_DOUBLE_EQ(m.problem.cost(m.problem.first(static_cast<int>(g))), request.bytes * seconds_per_kept_byte);
        EXPECT_EQ(kernels_at(m, static_cast<int>(g)), Ids{"none"});
    }
    EXPECT_GE(forms, 2) << "as stored and in panels";
    EXPECT_EQ(m.always_kept_bytes, 64 * 4) << "the bias";
}

/// Two programs of a chain of products with weights of their own, for one row and for eight.
class TwoBuckets : public MemoTest {
protected:
    TwoBuckets() {
        kernels = cpu_kernels();
        for (const int rows : {1, 8}) {
            Graph chain("g");
            Tensor x = chain.input("x", DType::f32, {rows, 64});
            for (int layer = 0; layer < layers; ++layer)
                x = matmul(x, chain.weight("w" + std::to_string(layer), DType::f32, {64, 64}));
            chain.output("y", x);
            programs.add(chain, kernels, costs, rows == 1 ? 1 : 3);
        }
    }
    static constexpr int layers = 4;
    std::span<const Bucket> buckets() const { return programs.buckets(); }
};

TEST_F(TwoBuckets, AKeptWeightIsOneGoalOfBoth) {
    const Memo both = memo_of(buckets(), Breadth::cheapest), first = memo_of(buckets().first(1), Breadth::cheapest),
               second = memo_of(buckets().last(1), Breadth::cheapest);
    const auto kept_of = [](const Memo& m) {
        return std::count_if(m.goals.begin(), m.goals.end(),
                             [](const Memo::Request& request) { return request.goal.kept; });
    };
    EXPECT_GE(kept_of(first), layers);
    EXPECT_EQ(kept_of(both), kept_of(first));
    EXPECT_EQ(kept_of(both), kept_of(second));
    EXPECT_EQ(both.goals.size() + static_cast<std::size_t>(kept_of(both)), first.goals.size() + second.goals.size());
    EXPECT_EQ(search::fault(both.problem), "");
}

TEST_F(TwoBuckets, GoalsOfBothAreNumberedInterleaved) {
    const Memo m = memo_of(buckets(), Breadth::cheapest);
    std::vector<int> lowest(buckets().size(), m.problem.goals()), highest(buckets().size(), -1);
    for (int g = 0; g < m.problem.goals(); ++g) {
        const Memo::Request& request = m.goals[static_cast<std::size_t>(g)];
        if (request.goal.kept) continue;
        int& low = lowest[static_cast<std::size_t>(request.bucket)];
        low = std::min(low, g);
        highest[static_cast<std::size_t>(request.bucket)] = g;
    }
    EXPECT_LT(lowest[1], highest[0] / 2) << "the second begins long before the first ends";
    EXPECT_GT(highest[1], lowest[0]);
}

TEST_F(TwoBuckets, RunsAreWeightedByFrequency) {
    const Memo m = memo_of(buckets(), Breadth::cheapest);
    for (int choice = 0; choice < m.problem.alternatives(); ++choice) {
        const Memo::Request& request = m.goals[static_cast<std::size_t>(m.problem.goal_of(choice))];
        const Bucket& bucket = buckets()[static_cast<std::size_t>(request.bucket)];
        if (bucket.candidates.bound()[request.goal.value]) continue;
        EXPECT_DOUBLE_EQ(m.problem.cost(choice), m.candidate(choice).estimate.seconds * bucket.weight);
    }
}

TEST_F(MemoTest, AValueWithoutAKernelIsRefusedWithAllReasons) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("sin"), kernel<2>("sin")};
    kernels.kernels[1].accepts = [](const Problem&) -> Refusal { return "not today"; };
    kernels.kernels[2].accepts = [](const Problem&) -> Refusal { return "nor ever"; };
    const Tensor bad = sin(graph.input("x", DType::f32, {4})), view = reshape(bad, {2, 2});
    graph.output("y", exp(exp(view)));
    try {
        memo();
        FAIL() << "expected an Error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        const std::string what = error.what();
        EXPECT_TRUE(what.starts_with("[sin] no kernel can compute f32[4]; sin@1: not today; sin@2: nor ever ("))
            << what;
    }
}

TEST_F(MemoTest, ASharedValueIsOneGoal) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("sin"), kernel<1>("add")};
    const Tensor e = exp(graph.input("x", DType::f32, {4}));
    graph.output("y", e + sin(e));
    const Memo m = memo();
    EXPECT_EQ(m.goals.size(), 3U);
    const std::span<const int> needs = m.problem.alternative(m.problem.first(2)).needs;
    EXPECT_EQ(std::vector<int>(needs.begin(), needs.end()), (std::vector<int>{0, 1}));
}

TEST_F(MemoTest, AGraphWithoutOutputsHasNoGoals) {
    EXPECT_TRUE(memo().goals.empty());
    exp(graph.input("x", DType::f32, {4}));
    kernels.kernels = {kernel<1>("exp")};
    EXPECT_TRUE(memo().problem.roots().empty());
}

TEST_F(MemoTest, StopsOnRequest) {
    kernels.kernels = {kernel<1>("exp")};
    graph.output("y", exp(graph.input("x", DType::f32, {4})));
    memo();
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(memo_of(programs.buckets(), Breadth::cheapest, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace cairn::selection
