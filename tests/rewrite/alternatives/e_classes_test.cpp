#include "rewrite/alternatives/e_classes.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using alternatives::EClasses, alternatives::Law, alternatives::Laws;

// (x w) c, x (w c), and a reader of the first.
struct ScaledProduct {
    Graph graph{"g"};
    Tensor x = graph.input("x", DType::f32, {3, 4}), w = graph.weight("w", DType::f32, {4, 5}), weight = w * 2,
           product = matmul(x, w), value = product * 2, other = matmul(x, weight), read = tanh(value);
};

TEST(EClasses, EachValueHasOneExpression) {
    const ScaledProduct g;
    const EClasses classes(*g.graph.data());
    EXPECT_TRUE(classes.have_one_expression_each());
    EXPECT_EQ(classes.most(), 1u);
    for (ir::NodeId id = 0; id < g.graph.size(); ++id) {
        EXPECT_EQ(classes.value_of(id), id);
        ASSERT_EQ(classes.expressions(id).size(), 1u);
        EXPECT_EQ(classes.expressions(id)[0], id);
    }
    EXPECT_EQ(verify(*g.graph.data(), classes), "");
    EXPECT_EQ(to_string(*g.graph.data(), classes), "");
}

TEST(EClasses, ExpressionsAndTheirLaws) {
    const ScaledProduct g;
    EClasses classes(*g.graph.data());
    classes.join(g.value.id(), g.other.id(), {Law::distributed});
    EXPECT_EQ(classes.value_of(g.other.id()), g.value.id());
    EXPECT_EQ(classes.expressions(g.value.id()).size(), 2u);
    EXPECT_EQ(classes.laws_of(g.other.id()), Laws{Law::distributed});
    EXPECT_TRUE(classes.laws_of(g.value.id()).empty());
    EXPECT_EQ(classes.laws(), Laws{Law::distributed});
    EXPECT_EQ(verify(*g.graph.data(), classes), "");
    EXPECT_EQ(to_string(*g.graph.data(), classes), "%5 = %6 distributed\n");
}

TEST(EClasses, VerifyNamesTheFault) {
    const ScaledProduct g;
    const auto fault = [&](const Tensor& value, const Tensor& expression, Laws laws) {
        EClasses classes(*g.graph.data());
        classes.join(value.id(), expression.id(), laws);
        return verify(*g.graph.data(), classes);
    };
    EXPECT_EQ(fault(g.value, g.other, {}), "%6 is not %5 by its normal form (exact)");
    EXPECT_EQ(fault(g.product, g.other, {Law::distributed}),
              "%5 reads %4, of which %6 is an expression that comes later");
    EXPECT_EQ(fault(g.value, g.read, {}), "%7 reads %5, of which %7 is an expression that comes later");
    EXPECT_EQ(fault(g.value, g.w, {}), "%1 is f32[4,5], and %5 is f32[3,5]");
}

TEST(EClasses, VerifyNamesTheFaultOfARounding) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), view = transpose(x, {1, 0}), other = reshape(x, {4, 3});
    const Tensor narrow = cast(x, DType::bf16), seen = transpose(narrow, {1, 0}), apart = cast(view, DType::bf16),
                 wide = cast(x, DType::f64), twice = tanh(narrow);
    const auto fault = [&](const Tensor& value, const Tensor& rounded) {
        EClasses classes(*g.data());
        classes.round(x.id(), narrow.id());
        classes.round(value.id(), rounded.id());
        return verify(*g.data(), classes);
    };
    EXPECT_EQ(fault(x, narrow), "");
    EXPECT_EQ(fault(view, seen), "");
    EXPECT_EQ(fault(view, apart), "");
    EXPECT_EQ(fault(x, wide), "%6 is not %0 rounded: by its type");
    EXPECT_EQ(fault(x, seen), "%4 is not %0 rounded: by its type");
    EXPECT_EQ(fault(other, seen), "%4 is not %2 rounded: neither cast nor view");
    EXPECT_EQ(fault(x, twice), "%7 is not %0 rounded: neither cast nor view");
    EClasses classes(*g.data());
    classes.round(x.id(), narrow.id());
    EXPECT_TRUE(classes.is_rounded(x.id(), narrow.id()));
    EXPECT_TRUE(classes.rounded(view.id()).empty());
    EXPECT_EQ(to_string(*g.data(), classes), "%0 rounded: %3\n");
}

TEST(EClasses, AValueHasARoundedFormOfEachDtype) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), view = transpose(x, {1, 0}), half = cast(x, DType::f16),
                 brain = cast(x, DType::bf16), half_view = transpose(half, {1, 0}), again = transpose(x + 0.0F, {1, 0}),
                 other = cast(view, DType::f16);
    EClasses classes(*g.data());
    for (const Tensor& narrow : {half, brain, half}) classes.round(x.id(), narrow.id());
    classes.round(view.id(), half_view.id());
    EXPECT_EQ(verify(*g.data(), classes), "");
    EXPECT_EQ(classes.rounded(x.id()).size(), 2U);
    EXPECT_TRUE(classes.is_rounded(x.id(), half.id()) && classes.is_rounded(x.id(), brain.id()));
    EXPECT_EQ(to_string(*g.data(), classes), "%0 rounded: %2\n%0 rounded: %3\n%1 rounded: %4\n");
    EXPECT_EQ(to_string(*g.data(), proved(*g.data(), classes)), to_string(*g.data(), classes));
    classes.round(view.id(), other.id());
    EXPECT_NE(verify(*g.data(), classes).find("is another of its dtype"), std::string::npos);
}

TEST(Laws, AreSets) {
    EXPECT_EQ(to_string(Laws()), "exact");
    EXPECT_EQ(to_string(Laws::all()), "distributed masked reassociated");
    EXPECT_TRUE(Laws().holds_under({}));
    EXPECT_TRUE(Laws{Law::masked}.holds_under(Laws::all()));
    EXPECT_FALSE(Laws{Law::masked}.holds_under({Law::distributed}));
    EXPECT_EQ(Laws{Law::masked} | Laws{Law::distributed}, Laws::of_definitions());
    EXPECT_TRUE(Laws::of_definitions().holds_under(Laws::all()));
    EXPECT_FALSE(Laws::of_definitions().has(Law::reassociated));
}

}  // namespace
}  // namespace cairn::test
