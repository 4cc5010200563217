#include "rewrite/normal_form/normalizer.hpp"

#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::test {
namespace {

TEST(Normalizer, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"odd functions", [](T x, T y, T) { return tanh(y - x); }, [](T x, T y, T) { return -tanh(x - y); }},
        {"even functions", [](T x, T y, T) { return cos(y - x); }, [](T x, T y, T) { return cos(x - y); }},
        {"factor of a product",
         [](T x, T, T r) {
             return matmul(x * 2, reshape(r, {4, 1}));
         },
         [](T x, T, T r) {
             return matmul(x, reshape(r * 2, {4, 1}));
         }},
        {"factor of a sum", [](T x, T, T) { return sum(x * 0.25, {-1}); }, [](T x, T, T) { return sum(x, {-1}) / 4; }},
        {"factor of a maximum", [](T x, T, T) { return max_reduce(3 * x, {-1}); },
         [](T x, T, T) { return 3 * max_reduce(x, {-1}); }},
        {"numbers in f32", [](T x, T, T) { return x * 0.70710678; }, [](T x, T, T) { return x / 1.41421356; }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(Normalizer, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"number off by 1e-5", [](T x, T, T) { return x * 1.00001; }, [](T x, T, T) { return x * 1.0; }},
        {"maximum of the negative", [](T x, T, T) { return max_reduce(-x, {-1}); },
         [](T x, T, T) { return max_reduce(x, {-1}); }},
        {"negative factor of a maximum", [](T x, T, T) { return max_reduce(-x, {-1}); },
         [](T x, T, T) { return -max_reduce(x, {-1}); }},
        {"axes", [](T x, T, T) { return sum(x, {-1}, true); }, [](T x, T, T) { return sum(x, {-2}, true); }},
        {"dtype", [](T x, T, T) { return cast(cast(x, DType::f16), DType::f32); }, [](T x, T, T) { return x * 1.0; }},
        {"order of matmul", [](T x, T y, T) { return matmul(x, swap_axes(y, 1, 2)); },
         [](T x, T y, T) { return matmul(y, swap_axes(x, 1, 2)); }},
        {"order of a product of matrices", [](T x, T y, T) { return matmul(slice(x, -1, 0, 3), slice(y, -1, 0, 3)); },
         [](T x, T y, T) { return matmul(slice(y, -1, 0, 3), slice(x, -1, 0, 3)); }},
        {"padding", [](T x, T, T) { return pad(x, -1, 1, 1, 0.5); }, [](T x, T, T) { return pad(x, -1, 1, 1, 0.25); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

TEST(Normalizer, NumbersOfF64AreComparedInF64) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f64, {4});
    const Tensor third = x * (1.0 / 3), exact = x / 3, rounded = x * 0.33333334;
    const normal_form::NormalForms forms(*g.data());
    EXPECT_TRUE(forms.normalizer().same(forms[third.id()], forms[exact.id()]));
    EXPECT_FALSE(forms.normalizer().same(forms[rounded.id()], forms[exact.id()]));
}

TEST(Normalizer, InfinityIsCloseOnlyToItself) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(normal_form::Normalizer::close(-infinity, -infinity));
    EXPECT_FALSE(normal_form::Normalizer::close(infinity, -infinity));
    EXPECT_FALSE(normal_form::Normalizer::close(0.5, infinity));
    EXPECT_FALSE(normal_form::Normalizer::close(-1e300, -infinity));
}

// With any number of forms that differ only in numbers, each is found by numbers within the tolerance, on either side.
TEST(Normalizer, FormsWithCloseNumbersAreFound) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    const auto form = [&](double a, double b) { return sin(x * a + b); };
    std::vector<std::pair<Tensor, Tensor>> pairs;
    for (int i = 1; i < 2000; ++i) {
        const double a = 0.37 * i, b = -1e-3 * i * i, near = i % 2 ? 1 + 6e-7 : 1 - 6e-7;
        pairs.emplace_back(form(a, b), form(a * near, b * near));
    }
    const normal_form::NormalForms forms(*g.data());
    for (const auto& [a, b] : pairs) {
        EXPECT_TRUE(forms.normalizer().same(forms[a.id()], forms[b.id()]));
        EXPECT_EQ(forms.normalizer().same(forms[a.id()], forms[pairs[5].first.id()]), a.id() == pairs[5].first.id());
    }
}

}  // namespace
}  // namespace cairn::test
