#include "cairn/cairn.hpp"
#include "selection/candidates/candidates.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

// Operand alternatives: expressions, copies, and operands that kernels widen themselves.
namespace cairn::selection {
namespace {

Refusal takes_all(const Problem&) { return {}; }
Refusal takes_narrow(const Problem& problem) {
    return problem.inputs[1].dtype == DType::f32 ? "takes narrow ones only" : "";
}
Cost takes_no_time(const Problem&) { return {}; }

Kernel kernel_for(std::string id, std::vector<int> widened_inputs, Refusal (*accepts)(const Problem&) = takes_all) {
    Kernel result;
    result.id = std::move(id);
    result.definition = "matmul";
    result.accepts = accepts;
    result.cost = takes_no_time;
    result.widened_inputs = std::move(widened_inputs);
    return result;
}

class OperandsTest : public testing::Test {
protected:
    /// The kernels for a product of two operands, with the problem of each.
    std::vector<std::string> products(const Tensor& a, const Tensor& b) {
        fusion::Match match;
        match.definition = "matmul";
        match.inputs = {a.id(), b.id()};
        match.outputs = {matmul(a, b).id()};
        costs.machine = nominal_machine(levels::baseline, 1);
        alternatives::EClasses classes(*graph.data());
        for (const auto& [value, narrow] : rounded) classes.round(value.id(), narrow.id());
        Candidates candidates(*graph.data(), classes, kernels, levels::baseline, costs, true);
        std::vector<std::string> texts;
        for (const Candidate& candidate : candidates.of_match(match, 0)) {
            const std::string problem = to_string(*candidate.problem);
            texts.push_back(candidate.kernel->id + problem.substr(problem.find('|') + 1));
            EXPECT_EQ(candidate.operands.size(), 2U);
        }
        return texts;
    }

    Graph graph{"g"};
    KernelSet kernels;
    CostModel costs;
    std::vector<std::pair<Tensor, Tensor>> rounded;  // a value, and the one that may be read in its place
};

using Texts = std::vector<std::string>;

TEST_F(OperandsTest, AWideningKernelReadsTheStoredDtype) {
    kernels.kernels = {kernel_for("plain@1", {}), kernel_for("widening@1", {1}),
                       kernel_for("narrow@1", {1}, takes_narrow)};
    const Tensor x = graph.input("x", DType::f32, {3, 4}), half = graph.input("h", DType::f16, {4, 5});
    EXPECT_EQ(products(x, cast(half, DType::f32)),
              (Texts{"plain@1 f32[3,4] f32[4,5] -> f32[3,5]", "widening@1 f32[3,4] f16[4,5] -> f32[3,5]",
                     "widening@1 f32[3,4] f32[4,5] -> f32[3,5]", "narrow@1 f32[3,4] f16[4,5] -> f32[3,5]"}));
}

TEST_F(OperandsTest, OtherCastsAreNotWidening) {
    kernels.kernels = {kernel_for("widening@1", {1})};
    const Tensor x = graph.input("x", DType::f32, {3, 4}), half = graph.input("h", DType::f16, {4, 5}),
                 whole = graph.input("i", DType::i8, {4, 5}), wide = graph.input("w", DType::f64, {4, 5});
    const Texts only_f32{"widening@1 f32[3,4] f32[4,5] -> f32[3,5]"};
    EXPECT_EQ(products(x, cast(whole, DType::f32)), only_f32) << "integers";
    EXPECT_EQ(products(x, cast(wide, DType::f32)), only_f32) << "a cast that rounds";
    EXPECT_EQ(products(cast(graph.input("g", DType::f16, {3, 4}), DType::f32), graph.input("y", DType::f32, {4, 5})),
              only_f32)
        << "the other operand";
    EXPECT_EQ(products(x, cast(half, DType::f32) + 1.0F), only_f32);
}

TEST_F(OperandsTest, ViewsOfStoredTensorsAreReadThroughStrides) {
    kernels.kernels = {kernel_for("widening@1", {0, 1}, takes_narrow)};
    const Tensor half = graph.input("h", DType::bf16, {5, 4});
    const Tensor view = cast(transpose(half, {1, 0}), DType::f32);
    EXPECT_EQ(products(cast(graph.input("x", DType::f16, {3, 4}), DType::f32), view),
              Texts{"widening@1 f16[3,4] bf16[4,5]:(1,4) -> f32[3,5]"});
}

TEST_F(OperandsTest, RoundedOperandsAreCandidatesWithStoredOnes) {
    kernels.kernels = {kernel_for("plain@1", {}), kernel_for("widening@1", {0, 1})};
    const Tensor x = graph.input("x", DType::f32, {3, 4}), half = graph.input("h", DType::f16, {4, 5});
    rounded = {{x, cast(x, DType::bf16)}};
    EXPECT_EQ(products(x, cast(half, DType::f32)),
              (Texts{"plain@1 f32[3,4] f32[4,5] -> f32[3,5]", "widening@1 f32[3,4] f16[4,5] -> f32[3,5]",
                     "widening@1 bf16[3,4] f16[4,5] -> f32[3,5]", "widening@1 f32[3,4] f32[4,5] -> f32[3,5]"}));
}

TEST_F(OperandsTest, EachRoundedFormIsACandidate) {
    kernels.kernels = {kernel_for("widening@1", {0, 1})};
    const Tensor x = graph.input("x", DType::f32, {3, 4}), y = graph.input("y", DType::f32, {4, 5});
    rounded = {{x, cast(x, DType::bf16)}, {x, cast(x, DType::f16)}, {y, cast(y, DType::f16)}};
    EXPECT_EQ(products(x, y),
              (Texts{"widening@1 bf16[3,4] f32[4,5] -> f32[3,5]", "widening@1 f16[3,4] f16[4,5] -> f32[3,5]",
                     "widening@1 f32[3,4] f32[4,5] -> f32[3,5]"}));
}

TEST_F(OperandsTest, ARoundingCastHasItsErrorAndIsRefusedByExact) {
    kernels.kernels = {kernel_for("cast@1", {})};
    kernels.kernels[0].definition = "cast";
    const Tensor x = graph.input("x", DType::f32, {3, 4}), narrow = cast(x, DType::bf16), own = cast(x, DType::f16);
    alternatives::EClasses classes(*graph.data());
    classes.round(x.id(), narrow.id());
    costs.machine = nominal_machine(levels::baseline, 1);
    const auto errors = [&](const Tensor& cast_of, double tolerance) {
        costs.tolerance = tolerance;
        Candidates candidates(*graph.data(), classes, kernels, levels::baseline, costs, true);
        fusion::Match match;
        match.definition = "cast";
        match.attributes = graph.data()->node(cast_of.id()).attributes;
        match.inputs = {x.id()};
        match.outputs = {cast_of.id()};
        std::vector<double> found;
        for (const Candidate& candidate : candidates.of_match(match, 0)) {
            EXPECT_EQ(candidate.estimate.error, 0) << "the kernel is exact";
            found.push_back(candidate.error());
        }
        EXPECT_FALSE(candidates.queries_for(0).empty()) << "to tell why";
        return found;
    };
    EXPECT_EQ(errors(narrow, 1e-2), std::vector<double>{0x1p-8});
    EXPECT_EQ(errors(narrow, 0x1p-8), std::vector<double>{0x1p-8});
    EXPECT_EQ(errors(narrow, 1e-3), std::vector<double>{});
    EXPECT_EQ(errors(narrow, 0), std::vector<double>{});
    EXPECT_EQ(errors(own, 0), std::vector<double>{0}) << "the program asks for that one";
}

// The alternatives of another operand are not repeated.
TEST_F(OperandsTest, EachCombinationIsQueriedOnce) {
    kernels.kernels = {kernel_for("widening@1", {1})};
    const Tensor x = graph.input("x", DType::f32, {6, 4}), rows = slice(x, 0, 0, 3);
    const Tensor half = graph.input("h", DType::f16, {4, 5}), wide = cast(half, DType::f32);
    const Texts found = products(rows, wide);
    EXPECT_EQ(found, (Texts{"widening@1 f32[3,4] f16[4,5] -> f32[3,5]", "widening@1 f32[3,4] f32[4,5] -> f32[3,5]"}));
}

}  // namespace
}  // namespace cairn::selection
