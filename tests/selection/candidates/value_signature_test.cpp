#include "selection/candidates/value_signature.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::selection {
namespace {

class ValueSignaturesTest : public testing::Test {
protected:
    ValueSignatures signatures_of(const alternatives::EClasses& classes) {
        views = views_of(*graph.data());
        bound.resize(views.size(), false);
        return {*graph.data(), classes, views, bound, layouts, desc_interner};
    }

    Graph graph{"g"};
    std::vector<ValueView> views;
    std::vector<bool> bound;
    std::vector<LayoutNames> layouts;
    TensorDescInterner desc_interner;
};

TEST_F(ValueSignaturesTest, NodesThatDifferOnlyInIdsAreEqual) {
    const Dim t = graph.symbol("T", 1, 9);
    const Tensor x = graph.input("x", DType::f32, {t, 4}), a = tanh(x), b = sin(a);
    const Tensor other_size = tanh(graph.input("z", DType::f32, {t, 5}));
    const Tensor strided = transpose(a, {1, 0}), of_given = transpose(x, {1, 0}),
                 square = graph.input("s", DType::f32, {4, 4});
    const Tensor transposed = transpose(tanh(square), {1, 0}), made = exp(tanh(square));
    const Tensor weight = tanh(graph.weight("w", DType::f32, {4, 4}));
    const alternatives::EClasses classes(*graph.data());
    bound.resize(weight.id() + 1, false);
    bound[weight.id()] = true;
    ValueSignatures of = signatures_of(classes);
    EXPECT_EQ(of.of_node(a.id()), of.of_node(b.id())) << "whatever makes them";
    EXPECT_NE(of.of_node(a.id()), of.of_node(x.id())) << "given";
    EXPECT_NE(of.of_node(a.id()), of.of_node(other_size.id()));
    EXPECT_NE(of.of_node(strided.id()), of.of_node(of_given.id())) << "in memory that is given";
    EXPECT_NE(of.of_node(transposed.id()), of.of_node(made.id())) << "through a view";
    EXPECT_NE(of.of_node(weight.id()), of.of_node(made.id())) << "bound";
    EXPECT_EQ(*of.strided(transposed.id()), (TensorDesc{DType::f32, {4, 4}, {1, 4}, {}, false}));
    EXPECT_EQ(of.strided(a.id()), of.strided(b.id()));
}

TEST_F(ValueSignaturesTest, WidenedValuesAreDistinguished) {
    const auto widened = [&](const char* name, DType from) {
        return cast(tanh(graph.input(name, from, {4})), DType::f32);
    };
    const Tensor half = widened("a", DType::f16), also_half = widened("b", DType::f16);
    const Tensor brain = widened("c", DType::bf16), narrowed = widened("d", DType::f64);
    const Tensor plain = tanh(graph.input("e", DType::f32, {4}));
    const alternatives::EClasses classes(*graph.data());
    ValueSignatures of = signatures_of(classes);
    EXPECT_EQ(of.of_node(half.id()), of.of_node(also_half.id()));
    EXPECT_NE(of.of_node(half.id()), of.of_node(brain.id()));
    EXPECT_NE(of.of_node(half.id()), of.of_node(plain.id()));
    EXPECT_EQ(of.of_node(narrowed.id()), of.of_node(plain.id())) << "no kernel reads it as it is stored";
}

TEST_F(ValueSignaturesTest, ValuesIncludeAllTheirExpressions) {
    const Tensor x = graph.input("x", DType::f32, {4, 4});
    const Tensor a = tanh(x), b = sin(x), c = exp(x), view = transpose(neg(x), {1, 0}), last = neg(view);
    alternatives::EClasses classes(*graph.data());
    classes.join(a.id(), view.id(), {});
    classes.join(b.id(), last.id(), {});
    ValueSignatures of = signatures_of(classes);
    EXPECT_EQ(of.of_node(a.id()), of.of_node(b.id()));
    EXPECT_NE(of.of_value(a.id()), of.of_value(b.id())) << "one may be seen through a view";
    EXPECT_NE(of.of_value(b.id()), of.of_value(c.id())) << "one is another expression";
    EXPECT_EQ(of.of_value(c.id()), of.of_node(c.id()));
}

TEST_F(ValueSignaturesTest, StatesAreDistinguishedFromTheirValues) {
    State state = graph.state("s", DType::f32, {4});
    const Tensor read = state.read(), changed = state.assign(tanh(read)), plain = tanh(read);
    const alternatives::EClasses classes(*graph.data());
    ValueSignatures of = signatures_of(classes);
    EXPECT_NE(of.of_node(changed.id()), of.of_node(plain.id()));
    EXPECT_NE(of.of_node(changed.id()), of.of_node(read.id()));
}

TEST_F(ValueSignaturesTest, ValuesWithOtherComputedLayoutsDiffer) {
    const Tensor a = tanh(graph.input("x", DType::f32, {3, 4})), b = sin(a), c = exp(b);
    const alternatives::EClasses classes(*graph.data());
    layouts.resize(c.id() + 1);
    layouts[b.id()] = {"parts.2"};
    layouts[c.id()] = {"parts.3"};
    ValueSignatures of = signatures_of(classes);
    EXPECT_EQ(of.of_node(a.id()), of.of_node(b.id()));
    EXPECT_NE(of.of_value(a.id()), of.of_value(b.id()));
    EXPECT_NE(of.of_value(b.id()), of.of_value(c.id()));
    layouts[c.id()] = {"parts.2"};
    EXPECT_EQ(of.of_value(b.id()), of.of_value(c.id()));
}

}  // namespace
}  // namespace cairn::selection
