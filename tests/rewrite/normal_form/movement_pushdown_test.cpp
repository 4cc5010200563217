#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

Tensor table(T x) { return reshape(x, {-1, 4}); }
Tensor six(T x) { return iota(Graph(x.graph()), 6); }

TEST(MovementPushdown, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
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
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(MovementPushdown, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
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

TEST(MovementPushdown, RowsOfManyProductsNeedNoRecursion) {
    Graph g("g");
    const Tensor w = g.input("w", DType::f32, {4, 4});
    Tensor x = g.input("x", DType::f32, {6, 4});
    for (int i = 0; i < 20000; ++i) x = matmul(x, w);
    const Tensor moved = reshape(x, {2, 3, 4});
    const normal_form::NormalForms forms(*g.data());
    EXPECT_EQ(forms.normalizer().term(forms[moved.id()].core).op, ir::Op::reshape);
}

TEST(MovementPushdown, NestedGathersNeedNoRecursion) {
    Graph g("g");
    const Tensor table = g.input("table", DType::i64, {9});
    Tensor ids = g.input("ids", DType::i64, {4, 2});
    for (int i = 0; i < 5000; ++i) ids = gather(table, ids, 0);
    const Tensor moved = reshape(ids, {8});
    const normal_form::NormalForms forms(*g.data());
    EXPECT_EQ(forms.normalizer().term(forms[moved.id()].core).op, ir::Op::reshape);
}

}  // namespace
}  // namespace cairn::test
