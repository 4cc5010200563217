#include "cairn/cairn.hpp"
#include "selection/candidates/candidates.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// Tests of packed layouts that kernels write at bind, beside those made by `pack`.
namespace cairn::selection {
namespace {

/// Kernels for a definition that writes layouts, and for products that read them.
class ValueLayoutsTest : public testing::Test {
protected:
    ValueLayoutsTest() {
        written = "rows.t";
        const auto bytes = [](const TensorDesc& tensor) { return tensor.shape.at(0) * tensor.shape.at(1) * Dim(3); };
        kernels.layouts = {
            {"rows", bytes, "rows.t"}, {"panel", bytes}, {.name = "of_runs", .bytes = bytes, .is_computed = true}};
        Kernel decode, product;
        decode.id = "decode@1";
        decode.definition = "decode";
        decode.output_layout = [](const Problem&, int) { return std::string(written); };
        product.id = "product@1";
        product.definition = "matmul";
        product.packed_inputs = {{1, "panel"}, {1, "rows"}};
        for (Kernel* kernel : {&decode, &product}) {
            kernel->accepts = [](const Problem&) { return Refusal(); };
            kernel->cost = [](const Problem&) { return Cost(); };
            kernels.kernels.push_back(*kernel);
        }
    }

    Candidates candidates() {
        costs.machine = nominal_machine(levels::baseline, 1);
        return {*graph.data(), kernels, levels::baseline, costs, true};
    }
    static fusion::Match match_of(const Tensor& made, std::string definition, std::vector<ir::NodeId> inputs) {
        fusion::Match match;
        match.definition = std::move(definition);
        match.inputs = std::move(inputs);
        match.outputs = {made.id()};
        return match;
    }
    /// The layout of the weight in each candidate for x @ weight.
    std::vector<std::string> layouts_read(const Tensor& weight) {
        const Tensor x = graph.input("x" + std::to_string(inputs++), DType::f32, {2, weight.dim(0)});
        const Tensor y = matmul(x, weight);
        Candidates of = candidates();
        of.find_layouts(matches);
        std::vector<std::string> found;
        for (const Candidate& candidate : of.of_match(match_of(y, "matmul", {x.id(), weight.id()}), 0))
            found.emplace_back(candidate.operands[1].layout);
        return found;
    }

    Graph graph{"g"};
    KernelSet kernels;
    CostModel costs;
    std::vector<fusion::Match> matches;
    int inputs = 0;
    static inline const char* written = "";
};

using Texts = std::vector<std::string>;
const PhysicalProperties in_rows{false, "rows.t", Device::cpu};

// The transposed view of what is written as rows.t is in the layout rows; both are one goal.
TEST_F(ValueLayoutsTest, ABoundMatrixIsReadInTheLayoutThatAKernelWrites) {
    const Tensor w = graph.weight("w", DType::f32, {4, 2, 3}), negated = -w, matrix = reshape(negated, {4, 6}),
                 turned = transpose(matrix, {1, 0});
    fusion::Match match = match_of(matrix, "decode", {w.id()});
    matches = {match};
    EXPECT_EQ(layouts_read(turned), (Texts{"panel", "rows", ""}));
    Candidates of = candidates();
    of.find_layouts(matches);
    EXPECT_EQ(of.packed(turned.id(), "rows"), (Goal{negated.id(), in_rows}));
    EXPECT_EQ(of.packed(matrix.id(), "rows.t"), (Goal{negated.id(), in_rows}));
    const std::vector<Candidate> writers = of.of_match(match, 0);
    ASSERT_EQ(writers.size(), 2U);
    EXPECT_EQ(of.output_goal(writers[1], 0), (Goal{negated.id(), in_rows}));
    EXPECT_EQ(to_string(*writers[1].problem), "decode | f32[4,2,3]! -> f32[4,6]@rows.t");

    const Goal goal{negated.id(), in_rows};
    EXPECT_EQ(to_string(of.tensor_in_layout(goal)), "f32[6,4]@rows");
    EXPECT_EQ(of.bytes_of(goal), 72);
    EXPECT_EQ(of.bytes_of({w.id(), {false, "panel", Device::cpu}}), 24) << "of its first two sizes";
    EXPECT_EQ(of.bytes_of({negated.id(), {false, {}, Device::cpu}}), 96) << "plain";
}

// Parts of the matrix, and the same elements as another matrix, lie elsewhere in the layout.
TEST_F(ValueLayoutsTest, OtherViewsAreNotReadInIt) {
    const Tensor w = graph.weight("w", DType::f32, {4, 6}), negated = -w;
    matches = {match_of(negated, "decode", {w.id()})};
    EXPECT_EQ(layouts_read(transpose(negated, {1, 0})), (Texts{"panel", "rows", ""}));
    EXPECT_EQ(layouts_read(slice(transpose(negated, {1, 0}), 1, 0, 2)), (Texts{"panel", ""}));
    EXPECT_EQ(layouts_read(reshape(negated, {3, 8})), (Texts{"panel", ""}));
    EXPECT_EQ(layouts_read(transpose(reshape(negated, {8, 3}), {1, 0})), (Texts{"panel", ""}));
    EXPECT_EQ(layouts_read(negated), (Texts{"panel", ""})) << "its layout is rows.t";
    EXPECT_EQ(layouts_read(graph.weight("other", DType::f32, {6, 4})), (Texts{"panel", ""}));
}

class QuantizedLayoutsTest : public ValueLayoutsTest {
protected:
    QuantizedLayoutsTest() {
        Kernel quantize;
        quantize.id = "quantize@1";
        quantize.definition = "pack";
        quantize.accepts = [](const Problem& problem) {
            return problem.outputs[0].layout == "rows" ? Refusal() : "makes rows";
        };
        quantize.cost = [](const Problem&) { return Cost(); };
        quantize.error = [](const Problem&) { return 1e-3; };
        kernels.kernels.push_back(quantize);
        costs.tolerance = 1e-2;
    }
    /// The layouts of a weight in products of which it is the right operand.
    Texts layouts_of_product(const Tensor& weight) {
        const Tensor x = graph.input("y" + std::to_string(inputs), DType::f32, {2, weight.dim(0)});
        matches = {match_of(matmul(x, weight), "matmul", {x.id(), weight.id()})};
        return layouts_read(weight);
    }
};

TEST_F(QuantizedLayoutsTest, LargeRightOperandsOfProductsWithinTheTolerance) {
    const Tensor large = graph.weight("large", DType::f32, {256, 512});
    EXPECT_EQ(layouts_of_product(large), (Texts{"panel", "rows", ""}));
    EXPECT_EQ(layouts_of_product(graph.weight("small", DType::f32, {256, 255})), (Texts{"panel", ""}));
    costs.tolerance = 1e-4;
    EXPECT_EQ(layouts_of_product(large), (Texts{"panel", ""}));
    costs.tolerance = 0;
    EXPECT_EQ(layouts_of_product(large), (Texts{"panel", ""}));
}

TEST_F(QuantizedLayoutsTest, ATableIsReadTransposedInTheSameForm) {
    const Tensor table = graph.weight("table", DType::f32, {512, 256}), turned = transpose(table, {1, 0});
    EXPECT_EQ(layouts_of_product(turned), (Texts{"panel", "rows", ""}));
    Candidates of = candidates();
    EXPECT_EQ(of.packed(turned.id(), "rows"), (Goal{table.id(), in_rows}));
    const std::vector<Candidate> made = of.of_packing(table.id(), "rows.t");
    ASSERT_EQ(made.size(), 1U);
    EXPECT_EQ(to_string(*made[0].problem), "pack | f32[256,512]:(1,256)! -> f32[256,512]@rows");
    EXPECT_EQ(made[0].error(), 1e-3);
}

TEST_F(QuantizedLayoutsTest, NotOperandsOfOtherOpsAndNotWhatIsWrittenInALayout) {
    const Tensor x = graph.input("x", DType::f32, {256, 512}), w = graph.weight("w", DType::f32, {256, 512});
    matches = {match_of(x + w, "add", {x.id(), w.id()})};
    EXPECT_EQ(layouts_read(graph.weight("none", DType::f32, {256, 512})), (Texts{"panel", ""})) << "no match reads it";
    Candidates of = candidates();
    of.find_layouts(matches);
    EXPECT_TRUE(of.layouts_of(w.id()).empty());

    const Tensor coded = graph.weight("coded", DType::f32, {512, 256}), decoded = -coded,
                 turned = transpose(decoded, {1, 0});
    const Tensor y = graph.input("coded_x", DType::f32, {2, 256});
    matches = {match_of(decoded, "decode", {coded.id()}), match_of(matmul(y, turned), "matmul", {y.id(), turned.id()})};
    Candidates other = candidates();
    other.find_layouts(matches);
    EXPECT_EQ(other.of_packing(decoded.id(), "rows.t").size(), 1U) << "it could be";
    EXPECT_EQ(other.layouts_of(turned.id()).size(), 1U) << "but is written so without an error";
}

// A packed layout is no layout of a run, and one of a run is none of a bound value.
TEST_F(ValueLayoutsTest, LayoutsOfRunsAndOfBoundValuesDiffer) {
    const Tensor x = graph.input("free", DType::f32, {4, 6}), free = -x, w = graph.weight("w", DType::f32, {4, 6}),
                 bound = -w;
    const fusion::Match of_run = match_of(free, "decode", {x.id()}), of_bound = match_of(bound, "decode", {w.id()});
    matches = {of_run, of_bound};
    for (const auto& [layout, in_run, at_bind] : {std::tuple("rows.t", 1U, 2U), {"of_runs", 2U, 1U}, {"", 1U, 1U}}) {
        written = layout;
        Candidates of = candidates();
        of.find_layouts(matches);
        EXPECT_EQ(of.of_match(of_run, 0).size(), in_run) << layout;
        EXPECT_EQ(of.of_match(of_bound, 1).size(), at_bind) << layout;
    }
}

}  // namespace
}  // namespace cairn::selection
