#include "fusion/definition_instance.hpp"

#include "cairn/composites.hpp"
#include "cairn/error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::test {
namespace {

using fusion::DefinitionInstance;

/// scale(a, factor) = a * factor + b, for operands of one shape and factors that are not negative.
int built = 0;
Definition scale() {
    return {"scale",
            [](std::span<const Tensor> operands, const Attributes& attributes) -> std::vector<Tensor> {
                ++built;
                const double factor = attributes.number("factor");
                if (factor < 0) throw Error(ErrorKind::graph, "scale", "factor is negative");
                const Tensor b = operands.size() > 1 ? operands[1] : operands[0];
                return {operands[0] * factor + b, exp(b)};
            },
            {}};
}

class InstanceCache : public testing::Test {
protected:
    std::vector<TensorDesc> operands(const std::string& text) {
        return parse_problem("scale | " + text + " where N in 1..64", *symbols).inputs;
    }
    std::optional<DefinitionInstance> instance(const std::string& text, double factor = 2) {
        return fusion::instantiate(definition, operands(text), {{"factor", factor}}, symbols);
    }

    std::shared_ptr<Symbols> symbols = Symbols::create();
    Definition definition = scale();
};

TEST_F(InstanceCache, ContainTheSimplifiedDefinition) {
    const auto made = instance("f32[N,4] f32[4]");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->inputs.size(), 2U);
    EXPECT_EQ(made->outputs.size(), 2U);
    EXPECT_EQ(to_string(made->graph->node(made->outputs[0]).shape), "[N,4]");
    EXPECT_EQ(to_string(made->graph->node(made->outputs[1]).shape), "[4]");
    const auto of_one = instance("f32[4] f32[4]", 1);
    for (const ir::Node& node : of_one->graph->nodes()) EXPECT_NE(node.op, ir::Op::mul);
}

TEST_F(InstanceCache, EachNodeRecordsTheOperandsItDependsOn) {
    const auto made = instance("f32[4] f32[4]");
    const auto first = fusion::operand_bit(0), second = fusion::operand_bit(1);
    EXPECT_EQ(made->reads[made->inputs[0]], first);
    EXPECT_EQ(made->reads[made->outputs[0]], first | second | fusion::number_bit);
    EXPECT_EQ(made->reads[made->outputs[1]], second);
}

TEST_F(InstanceCache, ManyOperandsShareABit) {
    EXPECT_EQ(fusion::operand_bit(61), fusion::OperandMask{1} << 61);
    EXPECT_EQ(fusion::operand_bit(62), fusion::OperandMask{1} << 62);
    EXPECT_EQ(fusion::operand_bit(1000), fusion::operand_bit(62)) << "and never that of numbers";
    EXPECT_EQ(fusion::operand_bit(1000) & fusion::number_bit, 0U);
}

TEST_F(InstanceCache, RefusedOperandsHaveNoInstance) {
    EXPECT_FALSE(instance("f32[4] f32[4]", -1));
    EXPECT_FALSE(instance("f32[4] f32[5]")) << "shapes that do not broadcast";
    EXPECT_FALSE(instance("f32[4] bool[4]"));
    EXPECT_FALSE(fusion::instantiate(definition, operands("f32[4]"), {}, symbols)) << "no factor";
    definition.build = [](std::span<const Tensor>, const Attributes&) -> std::vector<Tensor> {
        throw InternalError("scale", "broken");
    };
    EXPECT_THROW(instance("f32[4]"), InternalError) << "a fault of ours is no refusal";
}

TEST_F(InstanceCache, SizesOfZeroAndOneAreAccepted) {
    EXPECT_TRUE(instance("f32[0,4] f32[4]"));
    EXPECT_TRUE(instance("f32[] f32[1]"));
}

TEST_F(InstanceCache, EqualRequestsAreBuiltOnce) {
    fusion::InstanceCache known(symbols);
    const auto builds_for = [&](const std::string& text, double factor = 2) {
        built = 0;
        known.of(definition, operands(text), {{"factor", factor}});
        return built;
    };
    EXPECT_EQ(builds_for("f32[N,4] f32[4]"), 1);
    EXPECT_EQ(builds_for("f32[N,4] f32[4]"), 0);
    EXPECT_EQ(builds_for("f32[N,4] f32[4]", 3), 1);
    EXPECT_EQ(builds_for("f32[N,4] f32[4]", -1), 1);
    EXPECT_EQ(builds_for("f32[N,4] f32[4]", -1), 0) << "a refusal is remembered too";
    EXPECT_EQ(builds_for("f16[N,4] f16[4]"), 1);
    EXPECT_EQ(builds_for("f32[5,4] f32[4]"), 1);
    EXPECT_EQ(builds_for("f32[5,4]"), 1);
    EXPECT_EQ(builds_for("f32[1,5,4] f32[4]"), 1);
    const Definition other = scale();
    built = 0;
    known.of(other, operands("f32[5,4]"), {{"factor", 2.0}});
    EXPECT_EQ(built, 1);
}

TEST_F(InstanceCache, ListsOfSizesAreDistinguished) {
    definition.build = [](std::span<const Tensor> operands, const Attributes& attributes) -> std::vector<Tensor> {
        ++built;
        return {operands[0] * static_cast<double>(attributes.size())};
    };
    fusion::InstanceCache known(symbols);
    const Dim n = operands("f32[N]")[0].shape[0];
    using List = std::vector<Dim>;
    for (const List& list : {List{}, List{1}, List{2}, List{n}, List{n, 1}, List{2 * n}}) {
        built = 0;
        known.of(definition, operands("f32[N]"), {{"sizes", list}});
        EXPECT_EQ(built, 1);
    }
}

}  // namespace
}  // namespace cairn::test
