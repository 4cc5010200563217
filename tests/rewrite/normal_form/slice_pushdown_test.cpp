#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

Tensor swapped(T x) { return swap_axes(x, -1, -2); }

TEST(SlicePushdown, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"everything", [](T x, T, T) { return slice(x, -1, 0, 4); }, [](T x, T, T) { return x; }},
        {"each element apart", [](T x, T y, T r) { return slice(tanh(x * r + y), -1, 1, 3); },
         [](T x, T y, T r) { return tanh(slice(x, -1, 1, 3) * slice(r, -1, 1, 3) + slice(y, -1, 1, 3)); }},
        {"what repeats along the axis stays", [](T x, T, T r) { return slice(x + r, 1, 1, 3); },
         [](T x, T, T r) { return slice(x, 1, 1, 3) + r; }},
        {"a slice of a slice", [](T x, T, T) { return slice(slice(x, -1, 1, 4), -1, 1, 2); },
         [](T x, T, T) { return slice(x, -1, 2, 3); }},
        {"steps of steps", [](T x, T, T) { return slice(slice(x, -1, 1, 4, 2), -1, 1, 2); },
         [](T x, T, T) { return slice(x, -1, 3, 4); }},
        {"two axes in any order", [](T x, T, T) { return slice(slice(x, -1, 1, 3), -2, 0, 2); },
         [](T x, T, T) { return slice(slice(x, -2, 0, 2), -1, 1, 3); }},
        {"columns of a product", [](T x, T y, T) { return slice(matmul(swapped(x), y), -1, 1, 3); },
         [](T x, T y, T) { return matmul(swapped(x), slice(y, -1, 1, 3)); }},
        {"rows of a product", [](T x, T y, T) { return slice(matmul(swapped(x), y), -2, 1, 3); },
         [](T x, T y, T) { return matmul(slice(swapped(x), -2, 1, 3), y); }},
        {"batches of a product", [](T x, T y, T) { return slice(matmul(swapped(x), y), 0, 0, 1); },
         [](T x, T y, T) { return matmul(swapped(slice(x, 0, 0, 1)), slice(y, 0, 0, 1)); }},
        {"a part of a concat",
         [](T x, T y, T) {
             return slice(concat({x * 2, y, x}, -1), -1, 4, 8);
         },
         [](T, T y, T) { return y; }},
        {"within a part of a concat",
         [](T x, T y, T) {
             return slice(concat({x, 3 * y}, -1), -1, 5, 7);
         },
         [](T, T y, T) { return 3 * slice(y, -1, 1, 3); }},
        {"across the parts of a concat",
         [](T x, T y, T) {
             return slice(concat({x, y}, -1), 1, 1, 3);
         },
         [](T x, T y, T) {
             return concat({slice(x, 1, 1, 3), slice(y, 1, 1, 3)}, -1);
         }},
        {"a turned axis", [](T x, T, T) { return slice(swapped(x), -1, 1, 3); },
         [](T x, T, T) { return swapped(slice(x, -2, 1, 3)); }},
        {"axes that stay beside others that are joined",
         [](T x, T, T) {
             return slice(reshape(x, {x.dim(0) * 3, 4}), -1, 1, 3);
         },
         [](T x, T, T) {
             return reshape(slice(x, -1, 1, 3), {x.dim(0) * 3, 2});
         }},
        {"beside the axis of a sum", [](T x, T, T) { return slice(sum(exp(x), {-2}, true), -1, 1, 3); },
         [](T x, T, T) { return sum(exp(slice(x, -1, 1, 3)), {-2}, true); }},
        {"the part of a merged product",
         [](T x, T y, T) {
             return slice(matmul(swapped(x), concat({y, 2 * y, tanh(y)}, -1)), -1, 4, 8);
         },
         [](T x, T y, T) { return 2 * matmul(swapped(x), y); }},
        {"the part of a merged product of turned matrices",
         [](T x, T y, T) {
             return slice(matmul(x, swapped(concat({y, tanh(y)}, -2))), -1, 3, 6);
         },
         [](T x, T y, T) { return matmul(x, swapped(tanh(y))); }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(SlicePushdown, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"other columns", [](T x, T y, T) { return slice(matmul(swapped(x), y), -1, 1, 3); },
         [](T x, T y, T) { return matmul(swapped(x), slice(y, -1, 2, 4)); }},
        {"rows for columns", [](T x, T y, T) { return slice(matmul(swapped(x), swapped(swapped(y))), -1, 1, 3); },
         [](T x, T y, T) { return matmul(slice(swapped(x), -2, 1, 3), slice(y, -1, 0, 4)); }},
        {"the summed axis", [](T x, T y, T) { return slice(matmul(swapped(x), y), -1, 0, 2); },
         [](T x, T y, T) { return slice(matmul(slice(swapped(x), -1, 0, 2), slice(y, -2, 0, 2)), -1, 0, 2); }},
        {"the neighbour in a concat",
         [](T x, T y, T) {
             return slice(concat({x, y}, -1), -1, 3, 7);
         },
         [](T, T y, T) { return y; }},
        {"a longer step", [](T x, T, T) { return slice(x, -1, 0, 4, 2); },
         [](T x, T, T) { return slice(x, -1, 0, 2); }},
        {"an axis that is torn",
         [](T x, T, T) {
             return slice(reshape(x, {x.dim(0), 12}), -1, 0, 4);
         },
         [](T x, T, T) {
             return reshape(slice(x, -1, 0, 4), {x.dim(0), 12});
         }},
        {"no element", [](T x, T, T r) { return slice(x + r, 1, 1, 1); },
         [](T x, T, T r) { return slice(x + 2 * r, 1, 2, 2); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

TEST(SlicePushdown, PartsOfMergedProductsOfAnySize) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 8);
    const Tensor x = g.input("x", DType::f32, {n, 1, 5});
    std::vector<Tensor> weights, products;
    Dim width = 0;
    for (int i = 0; i < 7; ++i) {
        weights.push_back(g.weight("w" + std::to_string(i), DType::f32, {5, 1 + 2 * (i % 3)}));
        width = width + weights.back().dim(1);
    }
    const Tensor merged = matmul(x, concat(weights, 1));
    Dim begin = 0;
    for (const Tensor& w : weights) {
        const Tensor apart = matmul(x, w), part = slice(merged, -1, begin, begin + w.dim(1));
        EXPECT_TRUE(same_form(apart, part));
        begin = begin + w.dim(1);
    }
}

TEST(SlicePushdown, IsLimitedBySize) {
    Graph g("g");
    const Tensor w = g.input("w", DType::f32, {4, 4});
    Tensor x = g.input("x", DType::f32, {6, 4}), y = x;
    for (int i = 0; i < 5000; ++i) x = tanh(matmul(x, w));
    const Tensor rows = slice(x, 0, 1, 3);
    for (int i = 0; i < 3000; ++i) y = concat({slice(y, 1, 1, 4), slice(tanh(y), 1, 0, 1)}, 1);
    const normal_form::NormalForms forms(*g.data());
    EXPECT_EQ(forms.normalizer().term(forms[rows.id()].core).op, ir::Op::slice);
    EXPECT_LE(forms.normalizer().size(), 8 * g.size());
}

}  // namespace
}  // namespace cairn::test
