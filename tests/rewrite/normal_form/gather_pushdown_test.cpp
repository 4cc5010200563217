#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

// The elements of x as rows [4], and indices of such rows.
Tensor rows_of_four(T x) { return reshape(x, {-1, 4}); }
Tensor two_rows_of_ids(T x) { return reshape(iota(Graph(x.graph()), 6), {2, 3}) * 2; }

TEST(GatherPushdown, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"of a narrow table", [](T x, T, T) { return gather(cast(rows_of_four(x), DType::bf16), two_rows_of_ids(x)); },
         [](T x, T, T) { return cast(gather(rows_of_four(x), two_rows_of_ids(x)), DType::bf16); }},
        {"each element apart",
         [](T x, T y, T r) { return gather(tanh(rows_of_four(x) * r + rows_of_four(y)), two_rows_of_ids(x)); },
         [](T x, T y, T r) {
             return tanh(gather(rows_of_four(x), two_rows_of_ids(x)) * r + gather(rows_of_four(y), two_rows_of_ids(x)));
         }},
        {"a factor", [](T x, T, T) { return gather(rows_of_four(x) * 3, two_rows_of_ids(x)); },
         [](T x, T, T) { return 3 * gather(rows_of_four(x), two_rows_of_ids(x)); }},
        {"columns that repeat",
         [](T x, T y, T) { return gather(rows_of_four(x) * sum(rows_of_four(y), {-1}, true), two_rows_of_ids(x)); },
         [](T x, T y, T) {
             return gather(rows_of_four(x), two_rows_of_ids(x)) *
                    gather(sum(rows_of_four(y), {-1}, true), two_rows_of_ids(x));
         }},
        {"one place",
         [](T x, T, T r) {
             return gather(exp(rows_of_four(x)) + r, cast(floor(reshape(slice(r, 0, 0, 1), {})), DType::i32));
         },
         [](T x, T, T r) {
             return r + exp(gather(rows_of_four(x), cast(floor(reshape(slice(r, 0, 0, 1), {})), DType::i32)));
         }},
        {"another axis",
         [](T x, T y, T r) {
             return gather(tanh(x * r + sum(y, {0, 1})), two_rows_of_ids(x), 1);
         },
         [](T x, T y, T r) {
             return tanh(gather(x, two_rows_of_ids(x), 1) * r + sum(y, {0, 1}));
         }},
        {"beside an axis that repeats", [](T x, T y, T) { return gather(x * sum(y, {0}), two_rows_of_ids(x), 1); },
         [](T x, T y, T) { return gather(x, two_rows_of_ids(x), 1) * gather(sum(y, {0}), two_rows_of_ids(x), 0); }},
        {"a condition",
         [](T x, T y, T r) { return gather(where(rows_of_four(x) > r, rows_of_four(y), r), two_rows_of_ids(x)); },
         [](T x, T y, T r) {
             return where(gather(rows_of_four(x), two_rows_of_ids(x)) > r, gather(rows_of_four(y), two_rows_of_ids(x)),
                          r);
         }},
        {"numbers", [](T x, T, T) { return gather(cast(rows_of_four(x), DType::i32) * 3 + 1, two_rows_of_ids(x)); },
         [](T x, T, T) { return cast(gather(rows_of_four(x), two_rows_of_ids(x)), DType::i32) * 3 + 1; }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(GatherPushdown, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"other places", [](T x, T, T) { return gather(tanh(rows_of_four(x)), two_rows_of_ids(x)); },
         [](T x, T, T) { return tanh(gather(rows_of_four(x), two_rows_of_ids(x) + 1)); }},
        {"every third place", [](T x, T, T) { return gather(tanh(rows_of_four(x)), iota(Graph(x.graph()), 6) * 2); },
         [](T x, T, T) { return tanh(gather(rows_of_four(x), iota(Graph(x.graph()), 6) * 3)); }},
        {"no places", [](T x, T, T) { return tanh(rows_of_four(x)); },
         [](T x, T, T) { return gather(tanh(rows_of_four(x)), iota(Graph(x.graph()), rows_of_four(x).dim(0))); }},
        {"another table", [](T x, T, T) { return gather(tanh(rows_of_four(x)), two_rows_of_ids(x)); },
         [](T x, T y, T) { return tanh(gather(rows_of_four(y), two_rows_of_ids(x))); }},
        {"another axis",
         [](T x, T, T r) {
             return gather(tanh(sum(x, {0, 1}) * unsqueeze(r, 1)), iota(Graph(x.graph()), 4));
         },
         [](T x, T, T r) {
             return tanh(gather(sum(x, {0, 1}) * unsqueeze(r, 1), iota(Graph(x.graph()), 4), 1));
         }},
        {"an axis of size 1, which has no other place",
         [](T x, T y, T) { return gather(x * sum(y, {1}, true), two_rows_of_ids(x), 1); },
         [](T x, T y, T) {
             return gather(x, two_rows_of_ids(x), 1) * gather(sum(y, {1}, true), two_rows_of_ids(x), 1);
         }},
        {"what is gathered and what is not",
         [](T x, T, T r) { return gather(rows_of_four(x) * r, iota(Graph(x.graph()), 4)); },
         [](T x, T, T r) { return gather(rows_of_four(x), iota(Graph(x.graph()), 4)) * unsqueeze(r, 1); }},
        {"a sum along the axis",
         [](T x, T, T) { return gather(rows_of_four(x) / sum(rows_of_four(x), {0}, true), two_rows_of_ids(x)); },
         [](T x, T, T) {
             return gather(rows_of_four(x), two_rows_of_ids(x)) /
                    sum(gather(rows_of_four(x), two_rows_of_ids(x)), {0}, true);
         }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

TEST(GatherPushdown, ATableOfOneRowIsNotTheRow) {
    Graph g("g");
    const Tensor one = g.input("one", DType::f32, {1, 4}), ids = g.input("ids", DType::i32, {g.symbol("N", 0, 8)});
    EXPECT_FALSE(same_form(gather(tanh(one), ids), tanh(one)));
    EXPECT_TRUE(same_form(gather(one * 2, ids), gather(one, ids) * 2));
}

TEST(GatherPushdown, NeedsNoRecursionAndIsLimitedBySize) {
    Graph g("g");
    const Tensor ids = g.input("ids", DType::i32, {7});
    Tensor x = g.input("x", DType::f32, {9, 4});
    for (int i = 0; i < 20000; ++i) x = tanh(x);
    const Tensor rows = gather(x, ids);
    for (int i = 0; i < 3000; ++i)
        x = gather(tanh(x), i % 2 ? g.input("ids" + std::to_string(i), DType::i32, {9}) : iota(g, 9));
    const normal_form::NormalForms forms(*g.data());
    EXPECT_EQ(forms.normalizer().term(forms[rows.id()].core).op, ir::Op::gather);
    EXPECT_LE(forms.normalizer().size(), 8 * g.size());
}

}  // namespace
}  // namespace cairn::test
