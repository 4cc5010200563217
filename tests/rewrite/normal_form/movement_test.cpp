#include "rewrite/normal_form/normalizer.hpp"

#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(NormalizeMovement, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"movement goes inward", [](T x, T y, T) { return reshape(tanh(x + y), {-1}); },
         [](T x, T y, T) { return tanh(reshape(x, {-1}) + reshape(y, {-1})); }},
        {"movement is composed",
         [](T x, T, T) {
             return transpose(transpose(x, {1, 0, 2}), {2, 1, 0});
         },
         [](T x, T, T) {
             return transpose(x, {2, 0, 1});
         }},
        {"leading ones",
         [](T x, T, T r) {
             return x + reshape(r, {1, 1, 4});
         },
         [](T x, T, T r) { return x + r; }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(NormalizeMovement, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"axis order",
         [](T x, T, T) {
             return transpose(x, {1, 0, 2});
         },
         [](T x, T, T) {
             return transpose(x, {0, 2, 1});
         }},
        {"reshape is no transpose",
         [](T x, T, T) {
             return reshape(x, {x.dim(0), 4, 3});
         },
         [](T x, T, T) { return swap_axes(x, 1, 2); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

// A value in which each step reads the previous one three times.
Tensor leaky(Tensor x, int steps) {
    for (int i = 0; i < steps; ++i) x = where(x > 0, x, 0.1 * x);
    return x;
}

// Expanded to a tree, this has 3^16 leaves.
TEST(NormalizeMovement, SharedValuesAreMovedOnce) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4, 8});
    const Tensor a = reshape(leaky(x, 16), {8, 4}), b = leaky(reshape(x, {8, 4}), 16);
    const Tensor c = swap_axes(leaky(x, 16), 0, 1), d = leaky(swap_axes(x, 0, 1), 16);
    const normal_form::NormalForms forms(*g.data());
    EXPECT_TRUE(forms.normalizer().same(forms[a.id()], forms[b.id()]));
    EXPECT_TRUE(forms.normalizer().same(forms[c.id()], forms[d.id()]));
    EXPECT_LE(forms.normalizer().size(), g.size());
}

TEST(NormalizeMovement, PushdownIsLimitedBySize) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4, 8});
    Tensor y = x;
    for (int i = 0; i < 500; ++i) y = reshape(leaky(y, 10), i % 2 ? Shape{4, 8} : Shape{i % 4 ? 8 : 16, i % 4 ? 4 : 2});
    const Tensor whole = reshape(leaky(x, 500), {8, 4});
    const normal_form::NormalForms forms(*g.data());
    EXPECT_EQ(forms.normalizer().term(forms[whole.id()].core).op, ir::Op::reshape);
    EXPECT_LE(forms.normalizer().size(), 2 * g.size());
}

TEST(NormalizeMovement, LeadingAxesOfSizeOneDoNotChangeTheForm) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 8);
    const Tensor x = g.input("x", DType::f32, {n, 4}), tall = g.input("tall", DType::f32, {n, 1, 4});
    EXPECT_TRUE(same_form(reshape(x, {1, 1, n, 4}), x));
    EXPECT_TRUE(same_form(reshape(reshape(x, {n, 2, 2}), {n, 4}), x));
    EXPECT_TRUE(same_form(transpose(reshape(x, {1, n, 4}), {0, 2, 1}), transpose(x, {1, 0})));
    EXPECT_FALSE(same_form(tall, reshape(tall, {n, 4})));
    EXPECT_FALSE(same_form(transpose(x, {1, 0}), reshape(x, {4, n})));
}

TEST(NormalizeMovement, MovesThroughBroadcasts) {
    const Pair pairs[] = {
        {"joined rows beside a bias",
         [](T x, T y, T r) {
             return reshape(tanh(x * r + y), {-1, 4});
         },
         [](T x, T y, T r) {
             return tanh(reshape(x, {-1, 4}) * r + reshape(y, {-1, 4}));
         }},
        {"torn columns beside a column",
         [](T x, T y, T) {
             return reshape(x * max_reduce(y, {-1}, true), {-1, 4});
         },
         [](T x, T y, T) {
             return reshape(x, {-1, 4}) * reshape(max_reduce(y, {-1}, true), {-1, 1});
         }},
        {"a row turned to a column", [](T x, T, T r) { return swap_axes(x * r, -1, -2); },
         [](T x, T, T r) { return swap_axes(x, -1, -2) * unsqueeze(r, -1); }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(NormalizeMovement, StopsAtRepeatedParts) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), r = g.input("r", DType::f32, {4});
    EXPECT_TRUE(same_form(transpose(x * 2 + 1, {1, 0}), transpose(x, {1, 0}) * 2 + 1));
    EXPECT_FALSE(same_form(transpose(x + r, {1, 0}), transpose(x, {1, 0}) + unsqueeze(r * 2, -1)));
    EXPECT_FALSE(same_form(reshape(x + r, {12}), reshape(x, {12})));
    const Tensor square = g.input("square", DType::f32, {4, 4});
    EXPECT_FALSE(same_form(reshape(square + r, {16}), reshape(square + unsqueeze(r, -1), {16})))
        << "what is repeated along rows, and along columns";
    const Tensor cube = g.input("cube", DType::f32, {2, 2, 4}), pair = g.input("pair", DType::f32, {2, 4});
    EXPECT_FALSE(same_form(reshape(cube + pair, {4, 4}), reshape(cube + unsqueeze(pair, 1), {4, 4})))
        << "what is repeated along one of the axes that are joined";
}

}  // namespace
}  // namespace cairn::test
