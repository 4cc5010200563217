#include "canon/canon.hpp"

#include "tests/canon/pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

Tensor table(T x) { return reshape(x, {-1, 4}); }
Tensor six(T x) { return iota(Graph(x.graph()), 6); }

TEST(CanonMovement, SameValuesHaveOneForm) {
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
        {"gathered rows",
         [](T x, T, T) {
             return reshape(gather(table(x), six(x)), {2, 3, 4});
         },
         [](T x, T, T) {
             return gather(table(x), reshape(six(x), {2, 3}));
         }},
        {"an axis of size 1 beside repeated parts",
         [](T x, T, T r) { return reshape(tanh(unsqueeze(x, 1) + r), x.shape()); },
         [](T x, T, T r) { return tanh(x + r); }},
        {"an axis of size 1 beside a sum",
         [](T x, T, T) {
             return reshape(sum(unsqueeze(exp(x), 1), {-1}, true), {x.dim(0), 3, 1});
         },
         [](T x, T, T) { return sum(exp(x), {-1}, true); }},
        {"an axis of size 1 beside the largest of columns",
         [](T x, T, T) {
             return reshape(max_reduce(unsqueeze(x, 1), {-2}, true), {x.dim(0), 1, 4});
         },
         [](T x, T, T) { return max_reduce(x, {-2}, true); }},
        {"an axis of size 1 beside a product",
         [](T x, T y, T) {
             return reshape(matmul(unsqueeze(x, 1), swap_axes(unsqueeze(y, 1), -1, -2)), {x.dim(0), 3, 3});
         },
         [](T x, T y, T) { return matmul(x, swap_axes(y, -1, -2)); }},
        {"an axis of size 1 comes between others",
         [](T x, T y, T) {
             return reshape(matmul(x, swap_axes(y, -1, -2)), {x.dim(0), 1, 3, 3});
         },
         [](T x, T y, T) { return matmul(unsqueeze(x, 1), swap_axes(unsqueeze(y, 1), -1, -2)); }},
        {"leading ones",
         [](T x, T, T r) {
             return x + reshape(r, {1, 1, 4});
         },
         [](T x, T, T r) { return x + r; }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(CanonMovement, OtherValuesHaveOtherForms) {
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
        {"axes of size 1 that are summed along",
         [](T x, T, T) {
             return reshape(sum(x, {-1}, true), {x.dim(0), 3});
         },
         [](T x, T, T) {
             return sum(reshape(x, {x.dim(0), 12}), {-1}, true);
         }},
        {"a column that becomes a row",
         [](T x, T, T) {
             return reshape(max_reduce(x, {-1}, true) * 2, {x.dim(0), 1, 3});
         },
         [](T x, T, T) {
             return max_reduce(reshape(x, {x.dim(0), 4, 3}), {-2}, true) * 2;
         }},
        {"gathered rows torn",
         [](T x, T, T) {
             return reshape(gather(table(x), six(x)), {4, 6});
         },
         [](T x, T, T) {
             return reshape(gather(table(x), reshape(six(x), {3, 2})), {6, 4});
         }},
        {"gathered columns",
         [](T x, T, T) {
             return reshape(gather(x, six(x), 1), {x.dim(0), 2, 3, 4});
         },
         [](T x, T, T) {
             return gather(x, reshape(six(x), {2, 3}), 0);
         }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

// A value of which each step reads the one before three times.
Tensor leaky(Tensor x, int steps) {
    for (int i = 0; i < steps; ++i) x = where(x > 0, x, 0.1 * x);
    return x;
}

// As a tree this has 3^16 leaves.
TEST(CanonMovement, WhatIsReadOftenIsMovedOnce) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4, 8});
    const Tensor a = reshape(leaky(x, 16), {8, 4}), b = leaky(reshape(x, {8, 4}), 16);
    const Tensor c = swap_axes(leaky(x, 16), 0, 1), d = leaky(swap_axes(x, 0, 1), 16);
    const canon::Forms forms(*g.data());
    EXPECT_TRUE(forms.canon().same(forms[a.id()], forms[b.id()]));
    EXPECT_TRUE(forms.canon().same(forms[c.id()], forms[d.id()]));
    EXPECT_LE(forms.canon().size(), g.size());
}

TEST(CanonMovement, MovementGoesInwardUpToASize) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4, 8});
    Tensor y = x;
    for (int i = 0; i < 500; ++i) y = reshape(leaky(y, 10), i % 2 ? Shape{4, 8} : Shape{i % 4 ? 8 : 16, i % 4 ? 4 : 2});
    const Tensor whole = reshape(leaky(x, 500), {8, 4});
    const canon::Forms forms(*g.data());
    EXPECT_EQ(forms.canon().term(forms[whole.id()].core).op, ir::Op::reshape);
    EXPECT_LE(forms.canon().size(), 2 * g.size());
}

TEST(CanonMovement, RowsOfManyProductsTakeNoStack) {
    Graph g("g");
    const Tensor w = g.input("w", DType::f32, {4, 4});
    Tensor x = g.input("x", DType::f32, {6, 4});
    for (int i = 0; i < 20000; ++i) x = matmul(x, w);
    const Tensor moved = reshape(x, {2, 3, 4});
    const canon::Forms forms(*g.data());
    EXPECT_EQ(forms.canon().term(forms[moved.id()].core).op, ir::Op::reshape);
}

TEST(CanonMovement, MovedIdsOfIdsTakeNoStack) {
    Graph g("g");
    const Tensor table = g.input("table", DType::i64, {9});
    Tensor ids = g.input("ids", DType::i64, {4, 2});
    for (int i = 0; i < 5000; ++i) ids = gather(table, ids, 0);
    const Tensor moved = reshape(ids, {8});
    const canon::Forms forms(*g.data());
    EXPECT_EQ(forms.canon().term(forms[moved.id()].core).op, ir::Op::reshape);
}

TEST(CanonMovement, AxesOfSizeOneAreLessThanAnOrder) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 8);
    const Tensor x = g.input("x", DType::f32, {n, 4}), tall = g.input("tall", DType::f32, {n, 1, 4});
    EXPECT_TRUE(same_form(reshape(x, {1, 1, n, 4}), x));
    EXPECT_TRUE(same_form(reshape(reshape(x, {n, 2, 2}), {n, 4}), x));
    EXPECT_TRUE(same_form(transpose(reshape(x, {1, n, 4}), {0, 2, 1}), transpose(x, {1, 0})));
    EXPECT_FALSE(same_form(tall, reshape(tall, {n, 4})));
    EXPECT_FALSE(same_form(transpose(x, {1, 0}), reshape(x, {4, n})));
}

TEST(CanonMovement, StopsWherePartsAreRepeated) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), r = g.input("r", DType::f32, {4});
    EXPECT_TRUE(same_form(transpose(x * 2 + 1, {1, 0}), transpose(x, {1, 0}) * 2 + 1));
    EXPECT_FALSE(same_form(transpose(x + r, {1, 0}), transpose(x, {1, 0}) + unsqueeze(r * 2, -1)));
    EXPECT_FALSE(same_form(reshape(x + r, {12}), reshape(x, {12})));
    const Tensor square = g.input("square", DType::f32, {4, 4});
    EXPECT_FALSE(same_form(reshape(square + r, {16}), reshape(square + unsqueeze(r, -1), {16})))
        << "what is repeated along rows, and along columns";
}

}  // namespace
}  // namespace cairn::test
