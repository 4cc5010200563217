#include "fusion/fusion_groups.hpp"

#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::test {
namespace {

std::vector<fusion::Match> groups_at(const Proposed& proposed, ir::NodeId root) {
    std::vector<fusion::Match> result;
    for (const fusion::Match& match : proposed.matches)
        if (match.definition == "elementwise" && match.outputs.back() == root) result.push_back(match);
    return result;
}

ir::NodeId output_of(const Proposed& proposed, std::string_view name) {
    for (const ir::Output& output : proposed.graph->outputs())
        if (output.name == name) return output.node;
    throw std::out_of_range("no such output");
}

TEST(FusionGroups, AChainIsOneGroup) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8, 4}), b = g.weight("b", DType::f32, {4});
    g.output("y", tanh((x + b) * 0.3));
    const Proposed p = proposed(g);
    const auto groups = groups_at(p, output_of(p, "y"));
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(fusion::to_string(groups),
              "elementwise {2=const(0.3):f32 3=add(0,1):f32 4=mul(3,2):f32 5=tanh(4):f32} results (5) (%0, %1) -> (%5) "
              "over (%2, %4)\n");
    EXPECT_EQ(fault_in_matches(p, 1), "");
}

TEST(FusionGroups, ContainComparisonsSelectionsLogicAndCasts) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8}), z = g.input("z", DType::f32, {8});
    const Tensor both = x < z && !(z > 0.5);
    g.output("y", cast(where(both, x * z, max(x, z)), DType::f16));
    const Proposed p = proposed(g);
    const auto groups = groups_at(p, output_of(p, "y"));
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].inputs.size(), 2u);
    EXPECT_EQ(groups[0].body.back().op, "cast");
    EXPECT_EQ(groups[0].body.back().dtype, DType::f16);
    EXPECT_EQ(fault_in_matches(p, 1), "");
}

TEST(FusionGroups, StopAtOtherOps) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8, 4});
    g.output("y", exp(x - max_reduce(x, {-1}, true)) * 2.5);
    const Proposed p = proposed(g);
    const auto groups = groups_at(p, output_of(p, "y"));
    ASSERT_FALSE(groups.empty());
    EXPECT_EQ(groups[0].inputs.size(), 2u);
    EXPECT_EQ(p.graph->node(groups[0].inputs[1]).op, ir::Op::max_reduce);
}

TEST(FusionGroups, DoNotRecomputeSmallExpensiveOperands) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8, 4}), v = g.input("v", DType::f32, {8, 1});
    g.output("dear", x * rsqrt(v + 0.25));
    g.output("cheap", x * (v + 0.75));
    const Proposed p = proposed(g);
    EXPECT_EQ(groups_at(p, output_of(p, "dear"))[0].body.size(), 1u);
    EXPECT_EQ(groups_at(p, output_of(p, "cheap"))[0].body.size(), 3u);
}

TEST(FusionGroups, SharedValuesAreRecomputedReadOrProvided) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8, 4}), z = g.input("z", DType::f32, {8, 4});
    const Tensor s = x + z;
    g.output("y", tanh(s) * x);
    g.output("m", max_reduce(s, {-1}));
    const Proposed p = proposed(g);
    const auto groups = groups_at(p, output_of(p, "y"));
    ASSERT_EQ(groups.size(), 3u);
    const auto with = [&](std::size_t outputs, std::size_t steps) {
        return std::any_of(groups.begin(), groups.end(), [&](const fusion::Match& t) {
            return t.outputs.size() == outputs && t.body.size() == steps;
        });
    };
    EXPECT_TRUE(with(1, 3));  // recomputes x + z
    EXPECT_TRUE(with(1, 2));  // reads x + z
    EXPECT_TRUE(with(2, 3));  // provides x + z
    EXPECT_EQ(fault_in_matches(p, 1), "");
}

// m depends on s, and the group reads m: if s were an output of the group, the group would depend on itself.
TEST(FusionGroups, NeverDependOnThemselves) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8, 4}), z = g.input("z", DType::f32, {8, 4});
    const Tensor s = x + z;
    g.output("y", s - max_reduce(s, {-1}, true));
    const Proposed p = proposed(g);
    for (const fusion::Match& match : groups_at(p, output_of(p, "y"))) EXPECT_EQ(match.outputs.size(), 1u);
}

TEST(FusionGroups, StayWithinTheirLimits) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8});
    Tensor longest = x, widest = x;
    for (int i = 0; i < 100; ++i) longest = tanh(longest);
    for (int i = 0; i < 30; ++i) widest = widest * g.input("in" + std::to_string(i), DType::f32, {8});
    g.output("long", longest);
    g.output("wide", widest);
    const Proposed p = proposed(g);
    for (const fusion::Match& match : p.matches) {
        if (match.definition != "elementwise") continue;
        EXPECT_LE(match.body.size(), 64u);
        EXPECT_LE(match.inputs.size(), 16u);
    }
    EXPECT_EQ(groups_at(p, output_of(p, "long"))[0].body.size(), 64u);
    EXPECT_EQ(groups_at(p, output_of(p, "wide"))[0].inputs.size(), 16u);
}

TEST(FusionGroups, SplitLongChains) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8}), z = g.input("z", DType::f32, {8});
    Tensor chain = x, mixed = x;
    for (int i = 0; i < 1000; ++i) chain = tanh(chain);
    for (int i = 0; i < 50; ++i) mixed = sin(mixed) + z;
    g.output("chain", chain);
    g.output("mixed", mixed);
    const Proposed p = proposed(g);
    std::size_t cut = 0, sums = 0;
    for (const fusion::Match& match : p.matches) {
        if (match.definition != "elementwise") continue;
        const ir::Op end = p.graph->node(match.outputs.back()).op;
        cut += end == ir::Op::tanh ? 1 : 0;
        sums += end == ir::Op::add ? 1 : 0;
    }
    EXPECT_GE(cut, 1000u / 64);
    EXPECT_LE(cut, 40u);
    EXPECT_GE(sums, 50u);
}

TEST(FusionGroups, CanBeSwitchedOff) {
    Graph g("g");
    g.output("y", tanh(g.input("x", DType::f32, {8})));
    for (const fusion::Match& match :
         fusion::propose(*g.data(), definitions(), {.composites = true, .elementwise = false}))
        EXPECT_NE(match.definition, "elementwise");
}

}  // namespace
}  // namespace cairn::test
