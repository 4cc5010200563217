#include "select/goals.hpp"

#include "cairn/cairn.hpp"
#include "tests/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::select {
namespace {

/// A kernel that takes a millisecond times its version.
template <int milliseconds>
Kernel kernel(std::string definition) {
    Kernel result;
    result.id = definition + "@" + std::to_string(milliseconds);
    result.definition = std::move(definition);
    result.accepts = [](const Problem&) -> Refusal { return {}; };
    result.cost = [](const Problem&) { return Cost{milliseconds * 1e6, 0, 1}; };
    return result;
}

class Goals : public testing::Test {
protected:
    Goals() { costs.machine.flops = costs.machine.bandwidth = 1e9; }

    Memo memo(bool first_only = false, const std::vector<Definition>& definitions = {}, bool elementwise = false) {
        candidates.emplace(*graph.data(), kernels, Isa::baseline, costs, true, resident);
        return memo_of(*graph.data(), fuse::propose(*graph.data(), definitions, {.elementwise = elementwise}),
                       *candidates, first_only);
    }
    static int goal(const Memo& memo, const Tensor& value, const char* form = "") {
        const auto it = std::find(memo.keys.begin(), memo.keys.end(), GoalKey{value.id(), form});
        return it == memo.keys.end() ? -1 : static_cast<int>(it - memo.keys.begin());
    }
    static std::vector<GoalKey> roots(const Memo& memo) {
        std::vector<GoalKey> keys;
        for (const int root : memo.problem.roots()) keys.push_back(memo.keys[static_cast<std::size_t>(root)]);
        return keys;
    }
    /// The ids of the kernels of a goal's alternatives.
    static std::vector<std::string> kernels_at(const Memo& memo, int goal) {
        std::vector<std::string> ids;
        for (int choice = memo.problem.first(goal); choice < memo.problem.first(goal + 1); ++choice) {
            const Kernel* const kernel = memo.candidates[static_cast<std::size_t>(choice)].kernel;
            ids.push_back(kernel == nullptr ? "none" : kernel->id);
        }
        return ids;
    }
    std::optional<GoalKey> key(const Tensor& tensor, Form form, const char* layout = "") const {
        return goal_of({tensor.id(), form, layout}, *graph.data(), *candidates);
    }

    Graph graph{"g"};
    KernelSet kernels;
    CostSource costs;
    std::set<std::string> resident;
    std::optional<Candidates> candidates;
};

using Ids = std::vector<std::string>;

TEST_F(Goals, AnOperandRestsOnTheMemoryItIsSeenIn) {
    State state = graph.state("s", DType::f32, {graph.symbol("P", 0, 7)}, 0, 8);
    const Tensor x = graph.input("x", DType::f32, {4, 6}), of_input = transpose(x, {1, 0}), made = exp(x),
                 view = transpose(made, {1, 0}), before = state.read();
    candidates.emplace(*graph.data(), kernels, Isa::baseline, costs, true, resident);
    EXPECT_EQ(key(x, Form::seen), std::nullopt) << "it is there";
    EXPECT_EQ(key(of_input, Form::seen), std::nullopt);
    EXPECT_EQ(key(before, Form::seen), std::nullopt);
    EXPECT_EQ(key(made, Form::seen), (GoalKey{made.id(), ""}));
    EXPECT_EQ(key(view, Form::seen), (GoalKey{made.id(), ""}));
    EXPECT_EQ(key(view, Form::dense), (GoalKey{view.id(), ""}));
    EXPECT_EQ(key(of_input, Form::dense), (GoalKey{of_input.id(), ""}));
    EXPECT_EQ(key(before, Form::dense), (GoalKey{before.id(), "dense"})) << "its own goal is the version itself";
    EXPECT_EQ(key(made, Form::packed, "panel"), (GoalKey{made.id(), "panel"}));
    EXPECT_TRUE(is_residence({0, "!"}) && is_residence({0, "panel!"}));
    EXPECT_FALSE(is_residence({0, ""}) || is_residence({0, "dense"}) || is_residence({0, "panel"}));
}

TEST_F(Goals, NeedsComeBeforeUsers) {
    kernels = cpu_kernels();
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        graph = test::random_graph(seed);
        const Memo m = memo(false, kernels.definitions, true);
        ASSERT_EQ(m.problem.goals(), static_cast<int>(m.keys.size()));
        ASSERT_EQ(m.problem.alternatives(), static_cast<int>(m.candidates.size()));
        ASSERT_EQ(search::fault(m.problem), "") << "seed " << seed;
    }
}

TEST_F(Goals, OfEqualNeedsTheCheapestStaysAndOfEqualCostsTheFirst) {
    kernels.kernels = {kernel<3>("exp"), kernel<2>("exp"), kernel<2>("exp")};
    kernels.kernels[2].id = "exp@last";
    const Tensor y = exp(graph.input("x", DType::f32, {4}));
    graph.output("y", y);
    Memo m = memo();
    ASSERT_EQ(m.keys.size(), 1U);
    EXPECT_EQ(kernels_at(m, 0), Ids{"exp@2"});
    EXPECT_NEAR(m.problem.cost(0), 2e-3, 1e-6);
    m = memo(true);
    EXPECT_EQ(kernels_at(m, 0), Ids{"exp@3"}) << "without a search the first that accepts";
}

TEST_F(Goals, WithoutASearchNothingIsFusedOrPacked) {
    kernels = cpu_kernels();
    const Tensor x = graph.input("x", DType::f32, {3, 64}), w = graph.weight("w", DType::f32, {64, 64});
    graph.output("y", gelu(linear(x, w)));
    const Memo m = memo(true, kernels.definitions, true);
    for (std::size_t g = 0; g < m.keys.size(); ++g) {
        const int choice = m.problem.first(static_cast<int>(g));
        EXPECT_EQ(m.problem.first(static_cast<int>(g) + 1), choice + 1);
        EXPECT_TRUE(m.keys[g].second.empty() || m.keys[g].second == "!") << m.keys[g].second;
        EXPECT_EQ(m.candidates[static_cast<std::size_t>(choice)].outputs.size(), is_residence(m.keys[g]) ? 0U : 1U);
    }
    EXPECT_GT(memo(false, kernels.definitions, true).keys.size(), m.keys.size());
}

TEST_F(Goals, AnOutputIsReadableMemory) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("copy")};
    const Tensor x = graph.input("x", DType::f32, {4, 6}), made = exp(x), moved = transpose(made, {1, 0}),
                 part = slice(made, 0, 1, 3), flat = reshape(made, {24});
    graph.output("x", x);
    EXPECT_TRUE(memo().problem.roots().empty()) << "an input that is an output is there";
    graph.output("flat", flat);
    graph.output("part", part);
    EXPECT_EQ(roots(memo()), (std::vector<GoalKey>{{made.id(), ""}})) << "rows and reshapes are read where they lie";
    graph.output("moved", moved);
    const Memo m = memo();
    EXPECT_EQ(roots(m), (std::vector<GoalKey>{{made.id(), ""}, {moved.id(), ""}}));
    EXPECT_EQ(kernels_at(m, goal(m, moved)), Ids{"copy@1"});
}

TEST_F(Goals, AStateThatIsGivenOutIsCopied) {
    kernels.kernels = {kernel<1>("copy")};
    State state = graph.state("s", DType::f32, {graph.symbol("P", 0, 7)}, 0, 8);
    const Tensor before = state.read(), after = state.append(graph.input("x", DType::f32, {1}));
    graph.output("after", after);
    const Memo m = memo();
    EXPECT_GE(goal(m, after), 0) << "committed";
    EXPECT_GT(goal(m, after, "dense"), goal(m, after));
    EXPECT_EQ(m.problem.roots().size(), 2U);
    EXPECT_EQ(goal(m, before), -1);
}

TEST_F(Goals, WeightsArePaidByTheByteAndTheirWorkHardly) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("mul")};
    const Tensor w = graph.weight("w", DType::f32, {1000}), e = exp(w), x = graph.input("x", DType::f32, {1000});
    graph.output("y", x * e);
    Memo m = memo();
    const auto cost = [&](int goal) { return m.problem.cost(m.problem.first(goal)); };
    EXPECT_NEAR(cost(goal(m, e)), 1e-6, 1e-8) << "a thousandth of its millisecond";
    EXPECT_DOUBLE_EQ(cost(goal(m, e, "!")), 4000 * 1e-9);
    EXPECT_EQ(kernels_at(m, goal(m, e, "!")), Ids{"none"});
    EXPECT_EQ(goal(m, w, "!"), -1) << "only the bind section reads it";
    candidates->keep({e.id(), "!"});
    m = memo();
    EXPECT_EQ(cost(goal(m, e, "!")), 0) << "an earlier program keeps it";
}

TEST_F(Goals, AValueWithoutAKernelIsRefusedAtTheLowestWithAllReasons) {
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
        EXPECT_TRUE(what.starts_with("[sin] no kernel can make f32[4]; sin@1: not today; sin@2: nor ever (")) << what;
    }
}

TEST_F(Goals, WhatTwoReadIsOneGoal) {
    kernels.kernels = {kernel<1>("exp"), kernel<1>("sin"), kernel<1>("add")};
    const Tensor e = exp(graph.input("x", DType::f32, {4}));
    graph.output("y", e + sin(e));
    const Memo m = memo();
    EXPECT_EQ(m.keys.size(), 3U);
    const std::span<const int> needs = m.problem.alternative(m.problem.first(2)).needs;
    EXPECT_EQ(std::vector<int>(needs.begin(), needs.end()), (std::vector<int>{0, 1}));
}

TEST_F(Goals, NothingWantedIsNothing) {
    EXPECT_TRUE(memo().keys.empty());
    exp(graph.input("x", DType::f32, {4}));
    kernels.kernels = {kernel<1>("exp")};
    EXPECT_TRUE(memo().problem.roots().empty());
}

TEST_F(Goals, Stops) {
    kernels.kernels = {kernel<1>("exp")};
    graph.output("y", exp(graph.input("x", DType::f32, {4})));
    candidates.emplace(*graph.data(), kernels, Isa::baseline, costs, true, resident);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(memo_of(*graph.data(), fuse::propose(*graph.data(), std::span<const Definition>(), {}), *candidates,
                         false, stop.get_token()),
                 Cancelled);
}

}  // namespace
}  // namespace cairn::select
