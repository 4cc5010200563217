#include "fusion/pattern.hpp"

#include "cairn/composites.hpp"
#include "cairn/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::test {
namespace {

using fusion::Pattern;

std::vector<Pattern> patterns_of(std::vector<std::string> texts,
                                 std::function<std::vector<Tensor>(std::span<const Tensor>, const Attributes&)> build) {
    static std::vector<Definition> kept;
    kept = {{"test", std::move(build), std::move(texts)}};
    return fusion::make_patterns(kept, {}, {fusion::max_axes + 1, false});
}

/// The patterns of one text for graphs that round to 16-bit floats.
std::vector<Pattern> rounding_patterns_of(const Definition& definition) {
    return fusion::make_patterns({&definition, 1}, {}, {fusion::max_axes + 1, true});
}

std::vector<Tensor> normalized(std::span<const Tensor> operands, const Attributes& attributes) {
    return {layer_norm(operands[0], operands[1], operands[2], attributes.number("eps"))};
}

TEST(Pattern, AFreeNumberIsAHole) {
    const auto patterns = patterns_of({"test eps=? | f32[R,4] f32[4] f32[4]"}, normalized);
    ASSERT_EQ(patterns.size(), 1U);
    ASSERT_EQ(patterns[0].holes.size(), 1U);
    EXPECT_EQ(patterns[0].holes[0].attribute, 0U);
    EXPECT_EQ(patterns[0].problem.attributes.number("eps"), patterns[0].holes[0].sentinel);
    EXPECT_TRUE(patterns_of({"test eps=0.5 | f32[R,4] f32[4] f32[4]"}, normalized)[0].holes.empty());
}

TEST(Pattern, ASymbolThatNoOperandHasIsAHoleForWholeNumbers) {
    const auto shifted = [](std::span<const Tensor> operands, const Attributes& attributes) {
        attributes.integer("n");
        return std::vector<Tensor>{operands[0] + attributes.dims("w")[0]};
    };
    auto patterns = patterns_of({"test n=(3) eps=? w=(W) | f32[D]"}, shifted);
    ASSERT_EQ(patterns[0].holes.size(), 2U);
    const fusion::Hole& hole = patterns[0].holes[1];
    EXPECT_FALSE(patterns[0].holes[0].is_whole);
    EXPECT_TRUE(hole.is_whole);
    EXPECT_EQ(hole.sentinel, std::trunc(hole.sentinel));
    EXPECT_EQ(static_cast<double>(patterns[0].problem.attributes.integer("w")), hole.sentinel);
    Attributes attributes = patterns[0].problem.attributes;
    hole.put(7, attributes);
    EXPECT_EQ(attributes.integer("w"), 7);
    EXPECT_EQ(hole.number_in(attributes), 7);
    EXPECT_TRUE(patterns_of({"test n=(3) w=(D) | f32[D]"}, shifted)[0].holes.empty()) << "a size";
    EXPECT_TRUE(patterns_of({"test n=(3) w=(D,W) | f32[D]"}, shifted)[0].holes.empty()) << "a list";
}

TEST(Pattern, HolesDiffer) {
    const auto patterns =
        patterns_of({"test a=? b=1 c=? | f32[D]"}, [](std::span<const Tensor> operands, const Attributes& attributes) {
            return std::vector<Tensor>{operands[0] * attributes.number("a") + attributes.number("c")};
        });
    ASSERT_EQ(patterns[0].holes.size(), 2U);
    EXPECT_EQ(patterns[0].holes[1].attribute, 2U);
    EXPECT_NE(patterns[0].holes[0].sentinel, patterns[0].holes[1].sentinel);
    for (const fusion::Hole& hole : patterns[0].holes)
        EXPECT_EQ(hole.sentinel, static_cast<double>(static_cast<float>(hole.sentinel))) << "exact in f32";
}

TEST(Pattern, HasTwoSkeletonsIfSizesAppearInTheGraph) {
    EXPECT_EQ(patterns_of({"test eps=? | f32[R,D] f32[D] f32[D]"}, normalized).size(), 2U) << "a mean over D";
    EXPECT_EQ(patterns_of({"test eps=? | f32[R,4] f32[4] f32[4]"}, normalized).size(), 1U);
    EXPECT_EQ(patterns_of({"test | f32[R,D]"},
                          [](std::span<const Tensor> operands, const Attributes&) {
                              return std::vector<Tensor>{softmax(operands[0], -1)};
                          })
                  .size(),
              1U);
}

// A composite of f16 casts to f32 and back; a product does not.
TEST(Pattern, HasASkeletonFor16BitOperandsIfTheirOpsDiffer) {
    const Definition norm{"test", normalized, {"test eps=? | f32[R,4] f32[4] f32[4]"}};
    const auto patterns = rounding_patterns_of(norm);
    ASSERT_EQ(patterns.size(), 2U);
    const auto ends_in = [](const Pattern& pattern) {
        return pattern.skeleton.graph->node(pattern.skeleton.outputs[pattern.main_output]);
    };
    EXPECT_EQ(ends_in(patterns[0]).dtype, DType::f32);
    EXPECT_EQ(ends_in(patterns[1]).op, ir::Op::cast);
    EXPECT_EQ(ends_in(patterns[1]).dtype, DType::f16);
    EXPECT_EQ(patterns[1].problem.inputs[0].dtype, DType::f32) << "any float dtype";
    ASSERT_EQ(patterns[1].holes.size(), 1U);
    const Definition product{
        "test",
        [](std::span<const Tensor> x, const Attributes&) { return std::vector<Tensor>{matmul(x[0], x[1])}; },
        {"test | f32[R,K] f32[K,N]"}};
    EXPECT_EQ(rounding_patterns_of(product).size(), 1U);
}

TEST(Pattern, DetectsGraphsThatRoundTo16Bits) {
    const auto rounds = [](DType from, DType to) {
        Graph g("g");
        g.output("y", cast(g.input("x", from, {3}), to));
        return fusion::GraphTraits(*g.data()).rounds;
    };
    EXPECT_TRUE(rounds(DType::f32, DType::f16));
    EXPECT_TRUE(rounds(DType::f64, DType::bf16));
    EXPECT_FALSE(rounds(DType::f16, DType::f32));
    EXPECT_FALSE(rounds(DType::f64, DType::f32));
    EXPECT_FALSE(rounds(DType::i32, DType::f16));
    EXPECT_TRUE(fusion::GraphTraits(6, true).covers(fusion::GraphTraits(4, false)));
    EXPECT_FALSE(fusion::GraphTraits(6, false).covers(fusion::GraphTraits(4, true)));
    EXPECT_FALSE(fusion::GraphTraits(4, true).covers(fusion::GraphTraits(6, false)));
    EXPECT_TRUE(fusion::GraphTraits(6, true, true, 7).covers(fusion::GraphTraits(6, true, true, 5)));
    EXPECT_FALSE(fusion::GraphTraits(6, true, true, 5).covers(fusion::GraphTraits(6, true, true, 7)));
}

TEST(Pattern, IsMadeOnlyForGraphsWithTheRequiredOps) {
    const Definition product{.name = "test",
                             .build = [](std::span<const Tensor> operands,
                                         const Attributes&) { return std::vector{matmul(operands[0], operands[1])}; },
                             .patterns = {"test | f32[R,K] f32[K,N]"},
                             .required_ops = {"matmul"}};
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4, 4});
    g.output("y", exp(x));
    EXPECT_TRUE(fusion::make_patterns({&product, 1}, {}, fusion::GraphTraits(*g.data())).empty());
    g.output("z", matmul(x, x));
    EXPECT_EQ(fusion::make_patterns({&product, 1}, {}, fusion::GraphTraits(*g.data())).size(), 1U);
    EXPECT_EQ(fusion::make_patterns({&product, 1}).size(), 1U) << "of any graph";
}

TEST(Pattern, ARequiredOpThatAMatchMayLackIsRefused) {
    const auto message_with = [](const char* op, std::function<Tensor(const Tensor&)> function) -> std::string {
        const Definition definition{.name = "test",
                                    .build = [&](std::span<const Tensor> operands,
                                                 const Attributes&) { return std::vector{function(operands[0])}; },
                                    .patterns = {"test | f32[R,D]"},
                                    .required_ops = {op}};
        try {
            fusion::make_patterns({&definition, 1});
        } catch (const Error& error) { return error.what(); }
        return {};
    };
    EXPECT_EQ(message_with("matmul", [](const Tensor& x) { return softmax(x, -1); }),
              "[fuse] definition test requires matmul, which matches of its pattern \"test | f32[R,D]\" may lack");
    EXPECT_EQ(message_with("exp", [](const Tensor& x) { return sigmoid(x); }), "") << "tanh counts as exp";
    EXPECT_EQ(message_with("mul", [](const Tensor& x) { return x * sum(x, {-1}, true); }),
              "[fuse] definition test requires mul, which matches of its pattern \"test | f32[R,D]\" may lack");
    EXPECT_EQ(message_with("sum", [](const Tensor& x) { return softmax(x, -1); }), "");
    EXPECT_EQ(message_with("softmax", [](const Tensor& x) { return softmax(x, -1); }),
              "[fuse] definition test requires the unknown op softmax");
}

TEST(Pattern, LeadingAxesMayBeAddedIfNoOtherOperandHasTheFirst) {
    const auto allows_leading_axes = [](const char* text) {
        return patterns_of({text}, [](std::span<const Tensor> operands,
                                      const Attributes&) { return std::vector<Tensor>{exp(operands[0])}; })[0]
            .allows_leading_axes;
    };
    EXPECT_EQ(allows_leading_axes("test | f32[R,D] f32[D] f32[D]"), (std::vector<bool>{true, false, false}));
    EXPECT_EQ(allows_leading_axes("test | f32[R,K] f32[K,N]"), (std::vector<bool>{true, false}));
    EXPECT_EQ(allows_leading_axes("test | f32[T,D] f32[S,D] f32[S,D]"), (std::vector<bool>{true, true, true}));
    EXPECT_EQ(allows_leading_axes("test | f32[] f32[D]"), (std::vector<bool>{false, true}));
}

TEST(Pattern, AFirstAxisMayBeOmittedAndAnAxisFree) {
    EXPECT_EQ(fusion::problems_of("test | f32[R?,D] f32[D]?"),
              (std::vector<std::string>{"test | f32[R,D] f32[D]", "test | f32[D] f32[D]", "test | f32[R,D]",
                                        "test | f32[D]"}));
    const std::vector<std::string> axes = fusion::problems_of("test axis=?(-1) eps=? | f32[R,D]");
    ASSERT_EQ(axes.size(), fusion::max_axes);
    EXPECT_EQ(axes[0], "test eps=? | f32[R,D]");
    EXPECT_EQ(axes[2], "test axis=(-3) eps=? | f32[R,D,I1,I2]");
    const auto patterns = patterns_of({"test eps=? | f32[R?,4] f32[4] f32[4]"}, normalized);
    ASSERT_EQ(patterns.size(), 1U) << "with the axis it looks alike";
    EXPECT_EQ(patterns[0].allows_leading_axes, (std::vector<bool>{true, false, false}));
    EXPECT_EQ(patterns[0].max_axes, 1U);
    EXPECT_EQ(patterns_of({"test | f32[R?,4]"},
                          [](std::span<const Tensor> operands, const Attributes&) {
                              return std::vector<Tensor>{mean(operands[0], {-1}, false)};
                          })
                  .size(),
              2U)
        << "a sum to [R], and one to a single number";
}

TEST(Pattern, TheMainOutputIsTheLastNode) {
    const auto patterns = patterns_of({"test | f32[D]"}, [](std::span<const Tensor> operands, const Attributes&) {
        const Tensor e = exp(operands[0]), top = tanh(e);
        return std::vector<Tensor>{top, e};
    });
    EXPECT_EQ(patterns[0].main_output, 0U);
    EXPECT_EQ(patterns[0].operand_of(patterns[0].skeleton.inputs[0]), std::optional<std::size_t>(0));
    EXPECT_EQ(patterns[0].operand_of(patterns[0].skeleton.outputs[0]), std::nullopt);
}

TEST(Pattern, InvalidOnesAreRefused) {
    const auto refusal = [](const char* text) -> std::string {
        try {
            patterns_of({text}, normalized);
        } catch (const Error& error) { return error.what(); }
        return "";
    };
    EXPECT_EQ(refusal("test eps=? | f32[R,4] f32[5] f32[4]"),
              "[fuse] definition test does not take its pattern \"test eps=? | f32[R,4] f32[5] f32[4]\"");
    EXPECT_NE(refusal("other eps=? | f32[R,4] f32[4] f32[4]"), "");
    EXPECT_NE(refusal("test eps=? | f32[R,4"), "");
    EXPECT_NE(refusal("test | f32[R,4] f32[4] f32[4]"), "") << "eps is missing";
    EXPECT_THROW(patterns_of({"test | f32[D]"},
                             [](std::span<const Tensor>, const Attributes&) { return std::vector<Tensor>{}; }),
                 Error)
        << "no output";
}

}  // namespace
}  // namespace cairn::test
