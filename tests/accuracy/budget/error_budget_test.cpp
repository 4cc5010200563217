#include "accuracy/budget/error_budget.hpp"

#include "cairn/cairn.hpp"
#include "graph/ir/state_dtype_cast.hpp"
#include "rewrite/alternatives/expand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace cairn::accuracy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string refusal(const Graph& graph, const std::vector<OutputTolerance>& own) {
    try {
        (void)error_budgets_of(*graph.data(), Tolerance::exact(), own);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        return error.what();
    }
    return "";
}

TEST(ErrorBudgetTest, EachOutputHasItsOwnOrTheCommonTolerance) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {4});
    graph.output("a", exp(x));
    graph.output("b", abs(x));
    const std::vector<OutputTolerance> own{{"b", Tolerance::relative(1e-2)}};
    const std::vector<ErrorBudget> bounds = error_budgets_of(*graph.data(), Tolerance::relative(1e-3), own);
    ASSERT_EQ(bounds.size(), 2U);
    EXPECT_EQ(bounds[0].name, "output \"a\"");
    EXPECT_EQ(bounds[0].limit, 1e-3);
    EXPECT_EQ(bounds[1].limit, 1e-2);
    EXPECT_EQ(error_budgets_of(*graph.data(), Tolerance::exact(), own)[0].limit, 0);
    EXPECT_EQ(refusal(graph, own), "");
    EXPECT_EQ(refusal(graph, {{"c", Tolerance::exact()}}), "[tolerance] there is no output called \"c\"");
    EXPECT_EQ(refusal(graph, {own[0], own[0]}), "[tolerance] output \"b\" has two");
}

TEST(ErrorBudgetTest, ARoundedValueInfluencesTheOutputsOfTheValue) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {4}), read = exp(x), beside = sin(x),
                 narrow = cast(read, DType::bf16);
    graph.output("y", abs(read));
    graph.output("z", beside);
    alternatives::EClasses classes(*graph.data());
    classes.round(read.id(), narrow.id());
    const std::vector<OutputTolerance> own{{"y", Tolerance::relative(1e-2)}};
    const std::vector<ErrorBudget> bounds = error_budgets_of(*graph.data(), Tolerance::relative(1e-3), own);
    const ErrorInfluence influence(*graph.data(), classes, bounds);
    EXPECT_TRUE(influence.influences(narrow.id(), 0));
    EXPECT_FALSE(influence.influences(narrow.id(), 1));
    EXPECT_EQ(influence.limit(narrow.id()), 1e-2);
}

TEST(ErrorBudgetTest, AValueInfluencesItsUsers) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {4});
    const Tensor both = exp(x), first = abs(both), second = neg(both);
    const Tensor neither = sin(x);
    graph.output("a", first);
    graph.output("b", second);
    const std::vector<OutputTolerance> own{{"a", Tolerance::relative(1e-3)}};
    const std::vector<ErrorBudget> bounds = error_budgets_of(*graph.data(), Tolerance::relative(1e-2), own);
    const alternatives::EClasses single(*graph.data());
    const ErrorInfluence influence(*graph.data(), single, bounds);
    EXPECT_TRUE(influence.influences(both.id(), 0) && influence.influences(both.id(), 1));
    EXPECT_TRUE(influence.influences(first.id(), 0) && !influence.influences(first.id(), 1));
    EXPECT_EQ(influence.limit(both.id()), 1e-3);
    EXPECT_EQ(influence.limit(second.id()), 1e-2);
    EXPECT_EQ(influence.limit(neither.id()), infinity);
}

TEST(ErrorBudgetTest, OperandsOfEveryExpressionInfluenceTheOutput) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {4, 8});
    const Tensor w = graph.weight("w", DType::f32, {8, 8}), scale = graph.weight("c", DType::f32, {8});
    graph.output("y", matmul(x, w) * scale);
    const alternatives::Expansion expansion = alternatives::expand(*graph.data(), {});
    ASSERT_FALSE(expansion.classes.have_one_expression_each());
    const std::vector<ErrorBudget> bounds = error_budgets_of(*expansion.graph, Tolerance::relative(1e-2), {});
    const ErrorInfluence influence(*expansion.graph, expansion.classes, bounds);
    for (ir::NodeId id = 0; id < expansion.graph->nodes().size(); ++id)
        EXPECT_TRUE(influence.influences(id, 0)) << "%" << id << " of\n" << to_string(Graph(expansion.graph));
}

TEST(ErrorBudgetTest, AStateInfluencesOutputsOfLaterRuns) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {4});
    State seen = graph.state("seen", DType::f32, {4}), kept = graph.state("kept", DType::f32, {4});
    const Tensor update = exp(x), other = sin(x);
    graph.output("y", abs(seen.read()));
    seen.assign(update);
    kept.assign(other);
    const std::vector<OutputTolerance> own{{"y", Tolerance::relative(1e-2)}};
    const std::vector<ErrorBudget> bounds = error_budgets_of(*graph.data(), Tolerance::relative(1e-3), own);
    ASSERT_EQ(bounds.size(), 2U);
    EXPECT_EQ(bounds[1].name, "state \"kept\"");
    const alternatives::EClasses single(*graph.data());
    const ErrorInfluence influence(*graph.data(), single, bounds);
    EXPECT_EQ(influence.limit(update.id()), 1e-2);
    EXPECT_EQ(influence.limit(other.id()), 1e-3) << "no output is made of it: the tolerance of all";
}

TEST(ErrorBudgetTest, RoundingsOfStatesTakeTheirSquaresOfABudget) {
    EXPECT_EQ(combined_error(3e-3, 4e-3), 5e-3);
    EXPECT_EQ(combined_error(7e-3, 0), 7e-3);
    EXPECT_EQ(error_square(0), 0);
    EXPECT_EQ(error_square(3), 9);
    EXPECT_GT(error_square(1e-200), 0);
    EXPECT_TRUE(std::isfinite(error_square(1e200)));
    Graph graph("g");
    const Dim past = graph.symbol("P", 0, 3);
    const Tensor x = graph.input("x", DType::f32, {1, 4});
    State keys = graph.state("keys", DType::f32, {past, 4}, 0, 4),
          values = graph.state("values", DType::f32, {past, 4}, 0, 4);
    graph.output("y", sum(keys.append(x), {0}) * sum(values.append(x), {0}));
    graph.output("z", sum(keys.append(x), {0}));
    graph.output("w", exp(x));
    const auto stored = ir::cast_stored_states(*graph.data(), DType::bf16);
    ASSERT_NE(stored, nullptr);
    const std::vector<ErrorBudget> whole = error_budgets_of(*stored, Tolerance::relative(6e-3), {}),
                                   left = subtract_state_rounding(*stored, whole);
    const double each = 0x1p-8;
    EXPECT_DOUBLE_EQ(left[0].rounding, std::sqrt(2) * each);
    EXPECT_DOUBLE_EQ(left[0].limit, std::sqrt(36e-6 - 2 * each * each));
    EXPECT_DOUBLE_EQ(left[0].tolerance(), 6e-3);
    EXPECT_EQ(left[1].rounding, each);
    EXPECT_EQ(left[2].rounding, 0);
    EXPECT_EQ(left[2].limit, 6e-3);
    EXPECT_LT(subtract_state_rounding(*stored, error_budgets_of(*stored, Tolerance::relative(5e-3), {}))[0].limit, 0);
}

// A long chain in which every value is an output: nodes visited for one budget are not visited again for the next.
TEST(ErrorBudgetTest, LimitsOfManyOutputsNeedOneTraversal) {
    Graph graph("g");
    constexpr std::size_t length = 500;
    Tensor x = graph.input("x", DType::f32, {4});
    std::vector<OutputTolerance> own;
    std::vector<Tensor> values;
    for (std::size_t i = 0; i < length; ++i) {
        const std::string name = std::to_string(i);
        State state = graph.state("s" + name, DType::f32, {4});
        x = exp(x) + state.read();
        state.assign(x);
        graph.output(name, x);
        values.push_back(x);
        own.push_back({name, Tolerance::relative(1e-3 * static_cast<double>(1 + (i * 7) % length))});
    }
    const std::vector<ErrorBudget> bounds = error_budgets_of(*graph.data(), Tolerance::exact(), own);
    const alternatives::EClasses single(*graph.data());
    const ErrorInfluence influence(*graph.data(), single, bounds);
    for (std::size_t i = 0; i < length; ++i) {
        double least = infinity;
        for (std::size_t later = i; later < length; ++later) least = std::min(least, bounds[later].limit);
        EXPECT_EQ(influence.limit(values[i].id()), least) << i;
    }
    EXPECT_LE(influence.visits(), 4 * graph.data()->nodes().size());
}

}  // namespace
}  // namespace cairn::accuracy
