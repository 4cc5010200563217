#include "canon/canon.hpp"

#include "tests/canon/pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

Tensor square(T r) { return erf(reshape(r, {4, 1}) + r); }
Tensor flipped(T x) { return swap_axes(x, -1, -2); }
Tensor column(T x) { return max_reduce(x, {-1}, true); }
Tensor row(T x) { return max_reduce(x, {-2}, true); }

TEST(CanonContraction, SameValuesHaveOneForm) {
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

TEST(CanonContraction, OtherValuesHaveOtherForms) {
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

}  // namespace
}  // namespace cairn::test
