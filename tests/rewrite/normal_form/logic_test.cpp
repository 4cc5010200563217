#include "rewrite/normal_form/normalizer.hpp"

#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(NormalizeLogic, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"min by max", [](T x, T y, T) { return min(x, y); }, [](T x, T y, T) { return -max(-y, -x); }},
        {"scaled max", [](T x, T y, T) { return max(2 * x, 2 * y); }, [](T x, T y, T) { return 2 * max(y, x); }},
        {"comparisons", [](T x, T y, T) { return where(x < y, x, y); },
         [](T x, T y, T) { return where(!(y > x), y, x); }},
        {"choices", [](T x, T y, T r) { return where(x < y, where(x < r, x, y), y); },
         [](T x, T y, T r) { return where(x < r && x < y, x, y); }},
        {"de Morgan", [](T x, T y, T r) { return where(x < y || x < r, x, y); },
         [](T x, T y, T r) { return where(!(x < y) && !(x < r), y, x); }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(NormalizeLogic, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"negated floats", [](T x, T y, T) { return where(!(x < y), x, y); },
         [](T x, T y, T) { return where(x >= y, x, y); }},
        {"negative factor of max", [](T x, T y, T) { return max(-x, -y); }, [](T x, T y, T) { return -max(x, y); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

TEST(NormalizeLogic, ANegatedFloatComparisonIsKept) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), y = g.input("y", DType::f32, {4}),
                 k = g.input("k", DType::i32, {4}), l = g.input("l", DType::i32, {4});
    EXPECT_FALSE(same_form(!(x < y), y <= x)) << "neither holds of NaN";
    EXPECT_TRUE(same_form(!(k < l), l <= k));
    EXPECT_TRUE(same_form(!(x == y), x != y));
    EXPECT_TRUE(same_form(!!(x < y), x < y));
}

TEST(NormalizeLogic, DuplicateConditionsAreMerged) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), a = x > 0, b = x < 1;
    EXPECT_TRUE(same_form(a && b && a, b && a));
    EXPECT_FALSE(same_form(a && b, a || b));
    EXPECT_FALSE(same_form(where(a, x, 0.0), where(b, x, 0.0)));
}

}  // namespace
}  // namespace cairn::test
