#include "rewrite/normal_form/normalizer.hpp"

#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

Tensor square(T r) { return erf(reshape(r, {4, 1}) + r); }
Tensor flipped(T x) { return swap_axes(x, -1, -2); }
Tensor column(T x) { return max_reduce(x, {-1}, true); }
Tensor row(T x) { return max_reduce(x, {-2}, true); }

TEST(NormalizeContraction, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"a factor of each row of a sum", [](T x, T y, T) { return sum(x * column(y), {-1}, true); },
         [](T x, T y, T) { return column(y) * sum(x, {-1}, true); }},
        {"a factor of both axes",
         [](T x, T y, T) {
             return sum(x * max_reduce(y, {-2, -1}, true), {-2, -1}, true);
         },
         [](T x, T y, T) {
             return max_reduce(y, {-2, -1}, true) * sum(x, {-2, -1}, true);
         }},
        {"a column beside the left side", [](T x, T y, T) { return matmul(x / column(x), flipped(y)); },
         [](T x, T y, T) { return matmul(x, flipped(y)) / column(x); }},
        {"a row beside the right side", [](T x, T y, T) { return matmul(x, flipped(y) * row(flipped(y))); },
         [](T x, T y, T) { return matmul(x, flipped(y)) * row(flipped(y)); }},
        {"a transposed product", [](T x, T y, T) { return flipped(matmul(y, flipped(x))); },
         [](T x, T y, T) { return matmul(x, flipped(y)); }},
        {"rows of a product",
         [](T x, T, T r) {
             return reshape(matmul(reshape(x, {-1, 4}), square(r)), x.shape());
         },
         [](T x, T, T r) { return matmul(x, square(r)); }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(NormalizeContraction, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"a factor that varies", [](T x, T y, T) { return sum(x * y, {-1}, true); },
         [](T x, T y, T) { return y * sum(x, {-1}, true); }},
        {"a factor of one axis of two",
         [](T x, T y, T) {
             return sum(x * column(y), {-2, -1}, true);
         },
         [](T x, T y, T) {
             return column(y) * sum(x, {-2, -1}, true);
         }},
        {"a row beside the left side", [](T x, T y, T r) { return matmul(x * r, flipped(y)); },
         [](T x, T y, T r) { return matmul(x, flipped(y)) * sum(r, {-1}, true); }},
        {"sides swapped", [](T x, T y, T) { return matmul(y, flipped(x)); },
         [](T x, T y, T) { return matmul(x, flipped(y)); }},
        {"a product turned in other axes",
         [](T x, T y, T) {
             return transpose(matmul(x, flipped(y)), {1, 0, 2});
         },
         [](T x, T y, T) { return matmul(x, flipped(y)); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

// x is an input, g and r are bound rows, w and b bound matrices.
struct Bound {
    explicit Bound(int columns = 5, Shape rows = {2, 3})
        : x(graph.input("x", DType::f32, with(std::move(rows), 4))),
          g(graph.weight("g", DType::f32, {4})),
          r(graph.weight("r", DType::f32, {4})),
          w(graph.weight("w", DType::f32, {4, columns})),
          transposed_weight(graph.weight("turned", DType::f32, {columns, 4})) {}
    static Shape with(Shape rows, int width) {
        rows.emplace_back(width);
        return rows;
    }
    Graph graph{"g"};
    Tensor x, g, r, w, transposed_weight;
};

TEST(NormalizeContraction, BoundFactorsMoveToTheBoundOperand) {
    for (const int columns : {1, 5})
        for (const Shape& rows : {Shape{}, Shape{1}, Shape{3}, Shape{2, 3}}) {
            const Bound b(columns, rows);
            const Tensor column = unsqueeze(b.g, -1), row = reshape(b.r, {1, 4});
            const auto product = [&](T weight) {
                return reshape(matmul(reshape(b.x, {-1, 4}), weight), {-1, columns});
            };
            const Tensor flat = reshape(b.x, {-1, 4});
            EXPECT_TRUE(same_form(matmul(flat * b.g, b.w), product(column * b.w)));
            EXPECT_TRUE(same_form(matmul(flat / b.g, b.w), product(b.w / column)));
            EXPECT_TRUE(same_form(matmul(flat + b.r, b.w), product(b.w) + matmul(row, b.w)));
            EXPECT_TRUE(same_form(matmul(flat * b.g + b.r, b.w), product(column * b.w) + matmul(row, b.w)));
            const Tensor matrix = transpose(b.transposed_weight, {1, 0});
            const Tensor folded = transpose(b.transposed_weight * b.g, {1, 0});
            EXPECT_TRUE(columns == 1 || same_form(matmul(flat * b.g, matrix), product(folded)));
            EXPECT_FALSE(same_form(matmul(flat * b.g, b.w), product(unsqueeze(b.r, -1) * b.w)));
            EXPECT_FALSE(same_form(matmul(flat + b.r, b.w), product(b.w) + matmul(row * 2, b.w)));
        }
}

TEST(NormalizeContraction, InputFactorsAreNotMoved) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), r = g.input("r", DType::f32, {4});
    const Tensor w = g.weight("w", DType::f32, {4, 5}), given = g.input("given", DType::f32, {4, 5});
    EXPECT_FALSE(same_form(matmul(x + r, w), matmul(x, w) + matmul(reshape(r, {1, 4}), w)));
    EXPECT_FALSE(same_form(matmul(x * r, given), matmul(x, unsqueeze(r, -1) * given)));
}

TEST(NormalizeContraction, ABoundSumWithManyTermsIsNotExpanded) {
    Graph g("g");
    Tensor x = g.input("x", DType::f32, {3, 4});
    const Tensor w = g.weight("w", DType::f32, {4, 4});
    for (int i = 0; i < 3000; ++i) x = tanh(x) + g.weight("r" + std::to_string(i), DType::f32, {4});
    Tensor y = x;
    for (int i = 0; i < 3000; ++i) y = matmul(y, w) + g.weight("s" + std::to_string(i), DType::f32, {4});
    const normal_form::NormalForms forms(*g.data());
    EXPECT_LE(forms.normalizer().size(), 8 * g.size());
}

// Matrices with matching sizes: batches, a matrix shared by all batches, and weights.
struct Chain {
    explicit Chain(Shape batch = {})
        : x(graph.input("x", DType::f32, of(batch, 3, 4))),
          y(graph.input("y", DType::f32, of(batch, 3, 4))),
          a(graph.weight("a", DType::f32, {4, 2})),
          b(graph.weight("b", DType::f32, {2, 5})),
          transposed_weight(graph.weight("turned", DType::f32, {5, 2})),
          given(graph.input("given", DType::f32, of(batch, 5, 6))),
          w(graph.weight("w", DType::f32, {4, 5})),
          v(graph.weight("v", DType::f32, {4, 5})),
          r(graph.weight("r", DType::f32, {5})) {}
    static Shape of(Shape batch, int rows, int columns) {
        batch.emplace_back(rows);
        batch.emplace_back(columns);
        return batch;
    }
    Graph graph{"g"};
    Tensor x, y, a, b, transposed_weight, given, w, v, r;
};

constexpr normal_form::Laws chained{normal_form::Law::reassociated},
    multiplied_out{normal_form::Law::reassociated, normal_form::Law::distributed};

TEST(NormalizeContraction, ChainsOfProductsInAnyOrder) {
    for (const Shape& batch : {Shape{}, Shape{2}, Shape{1, 2}}) {
        const Chain c(batch);
        const Tensor first = matmul(matmul(c.x, c.a), c.b), second = matmul(c.x, matmul(c.a, c.b));
        EXPECT_TRUE(same_form(first, second, chained));
        EXPECT_FALSE(same_form(first, second));
        EXPECT_FALSE(same_form(first, second, {normal_form::Law::distributed}));
        EXPECT_TRUE(same_form(matmul(first, c.given), matmul(c.x, matmul(c.a, matmul(c.b, c.given))), chained));
        EXPECT_TRUE(same_form(matmul(matmul(c.x, c.a), matmul(c.b, c.given)), matmul(second, c.given), chained));
        EXPECT_TRUE(same_form(matmul(matmul(c.x, c.a), flipped(c.transposed_weight)),
                              matmul(c.x, flipped(matmul(c.transposed_weight, flipped(c.a)))), chained));
        EXPECT_TRUE(
            same_form(matmul(matmul(c.x, c.a) * 0.5, c.b), matmul(c.x, matmul(c.a, c.b)) * 0.5, multiplied_out));
        EXPECT_FALSE(same_form(first, matmul(c.y, matmul(c.a, c.b)), chained));
        EXPECT_FALSE(same_form(first, matmul(c.x, matmul(c.a, flipped(c.transposed_weight))), chained));
    }
}

TEST(NormalizeContraction, ProductsOfSumsOfMatrices) {
    for (const Shape& batch : {Shape{}, Shape{2}}) {
        const Chain c(batch);
        const Tensor apart = matmul(c.x, c.w) + matmul(c.x, c.v), together = matmul(c.x, c.w + c.v);
        EXPECT_TRUE(same_form(apart, together, multiplied_out));
        EXPECT_FALSE(same_form(apart, together, {normal_form::Law::distributed}));
        EXPECT_FALSE(same_form(apart, together, chained));
        EXPECT_TRUE(same_form(matmul(c.x + c.y, c.w), matmul(c.x, c.w) + matmul(c.y, c.w), multiplied_out));
        EXPECT_TRUE(same_form(matmul(c.x + c.y, c.w + c.v),
                              matmul(c.x, c.w) + matmul(c.y, c.w) + matmul(c.y, c.v) + matmul(c.x, c.v),
                              multiplied_out));
        EXPECT_TRUE(same_form(matmul(c.x, c.w) + c.r + matmul(matmul(c.x, c.a), c.b) * 2,
                              matmul(c.x, c.w + matmul(c.a, c.b * 2)) + c.r, multiplied_out));
        EXPECT_FALSE(same_form(apart, matmul(c.x, c.w - c.v), multiplied_out));
        EXPECT_FALSE(same_form(apart, matmul(c.x + c.y, c.w), multiplied_out));
    }
}

// A column is broadcast along the summed axis: it is not a matrix of the product.
TEST(NormalizeContraction, ASumWithAColumnIsNotMultipliedOut) {
    const Chain c;
    const Tensor whole = matmul(c.x + column(c.y), c.w);
    EXPECT_FALSE(same_form(whole, matmul(c.x, c.w) + column(c.y), multiplied_out));
    EXPECT_TRUE(same_form(whole, matmul(column(c.y) + c.x, c.w), multiplied_out));
}

TEST(NormalizeContraction, ConcatenatedParts) {
    for (const Shape& batch : {Shape{}, Shape{2}}) {
        Chain c(batch);
        const Tensor z = tanh(slice(c.y, -1, 0, 1)), tall = c.graph.weight("tall", DType::f32, {9, 5});
        const auto rows = [&](int start, int stop) { return slice(tall, 0, start, stop); };
        const Tensor whole = matmul(concat({c.x, z, c.y * 2}, -1), tall);
        const Tensor apart = matmul(c.x, rows(0, 4)) + matmul(z, rows(4, 5)) + matmul(c.y, rows(5, 9)) * 2;
        EXPECT_TRUE(same_form(whole, apart, multiplied_out));
        EXPECT_TRUE(same_form(matmul(concat({c.x, z}, -1), rows(0, 5)), matmul(c.x, rows(0, 4)) + matmul(z, rows(4, 5)),
                              chained));
        EXPECT_FALSE(same_form(whole, apart));
        EXPECT_FALSE(same_form(whole, apart, {normal_form::Law::distributed}));
        EXPECT_FALSE(same_form(matmul(concat({c.y, z, c.x * 2}, -1), tall), apart, multiplied_out)) << "other parts";
        EXPECT_FALSE(same_form(matmul(concat({c.x, z}, -1), rows(1, 6)),
                               matmul(c.x, rows(0, 4)) + matmul(z, rows(4, 5)), chained));
        EXPECT_TRUE(same_form(matmul(whole, c.given), matmul(concat({c.x, z, c.y * 2}, -1), matmul(tall, c.given)),
                              multiplied_out));
    }
}

TEST(NormalizeContraction, ALongChainHasFewTerms) {
    Graph g("g");
    Tensor x = g.input("x", DType::f32, {4, 4});
    for (int i = 0; i < 2000; ++i) x = matmul(x, g.weight("w" + std::to_string(i), DType::f32, {4, 4}));
    const normal_form::NormalForms forms(*g.data(), multiplied_out);
    EXPECT_LE(forms.normalizer().size(), 24 * g.size());
}

}  // namespace
}  // namespace cairn::test
