#include "rewrite/normal_form/normalizer.hpp"

#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace cairn::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor zero(T x) { return Graph(x.graph()).constant(DType::f32, 0.0); }
Tensor score(T x, T y) { return matmul(x, swap_axes(y, -1, -2)); }
Tensor seen(T x, T y) { return slice(x, -1, 0, 3) < slice(y, -1, 0, 3); }
Tensor other(T x, T y) { return slice(x, -1, 1, 4) < slice(y, -1, 1, 4); }

TEST(NormalizeArithmetic, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"an added mask", [](T x, T y, T) { return score(x, y) + where(seen(x, y), zero(x), -1e30); },
         [](T x, T y, T) { return where(seen(x, y), score(x, y), -1e30); }},
        {"an added mask beside what may be one",
         [](T x, T y, T) { return score(x, y) + slice(x, -1, 0, 3) + where(seen(x, y), zero(x), -1e30); },
         [](T x, T y, T) { return where(seen(x, y), score(x, y), -1e30) + slice(x, -1, 0, 3); }},
        {"two masks, either of which takes the score",
         [](T x, T y, T) { return where(seen(x, y), score(x, y), -1e30) + where(other(x, y), zero(x), -1e31); },
         [](T x, T y, T) { return where(other(x, y), score(x, y), -1e31) + where(seen(x, y), zero(x), -1e30); }},
        {"two masks of -inf",
         [](T x, T y, T r) { return x + where(x < y, zero(x), -infinity) + where(r < 1, zero(x), -infinity); },
         [](T x, T y, T r) { return where(x < y && r < 1, x, -infinity); }},
        {"order of a sum", [](T x, T y, T r) { return x + (y + r); }, [](T x, T y, T r) { return (r + x) + y; }},
        {"order of a product", [](T x, T y, T r) { return x * (y * r); }, [](T x, T y, T r) { return (r * x) * y; }},
        {"differences", [](T x, T y, T) { return x - y; }, [](T x, T y, T) { return -(y - x); }},
        {"distribution", [](T x, T y, T r) { return x * (y + r); }, [](T x, T y, T r) { return x * y + r * x; }},
        {"distribution in a sum", [](T x, T y, T r) { return r + x * (y + r); },
         [](T x, T y, T r) { return x * y + (r * x + r); }},
        {"coefficients", [](T x, T y, T) { return 2 * (x / 3 + y); },
         [](T x, T y, T) { return x * (2.0 / 3) + 2 * y; }},
        {"powers", [](T x, T, T) { return x * x * x; }, [](T x, T, T) { return pow(x, 3); }},
        {"roots", [](T x, T y, T) { return y / sqrt(x); }, [](T x, T y, T) { return y * rsqrt(x); }},
        {"roots of multiples", [](T x, T, T) { return sqrt(4 * x); }, [](T x, T, T) { return 2 * sqrt(x); }},
        {"roots of negatives", [](T x, T, T) { return sqrt(-4 * x); }, [](T x, T, T) { return 2 * pow(-x, 0.5); }},
        {"e to a power", [](T x, T, T) { return 1 / exp(x); }, [](T x, T, T) { return exp(-x); }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(NormalizeArithmetic, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"sign", [](T x, T y, T) { return x - y; }, [](T x, T y, T) { return y - x; }},
        {"nothing is cancelled", [](T x, T y, T) { return x + y - y; }, [](T x, T, T) { return x * 1.0; }},
        {"nor of what is there twice", [](T x, T, T) { return x + (x - x); }, [](T x, T, T) { return x * 1.0; }},
        {"nor of multiples", [](T x, T y, T) { return 3 * x * y - x * y; }, [](T x, T y, T) { return 2 * x * y; }},
        {"nor all of it", [](T x, T y, T) { return x * y - x * y; }, [](T x, T y, T) { return 0 * x * y; }},
        {"nor in products", [](T x, T y, T) { return x * y / y; }, [](T x, T, T) { return x * 1.0; }},
        {"powers of sums within a sum", [](T x, T y, T r) { return r + x * rsqrt(y + r); },
         [](T x, T y, T r) { return r + x / (y + r); }},
        {"roots of sums within a sum", [](T x, T y, T r) { return r + x * sqrt(y + r); },
         [](T x, T y, T r) { return r + x * (y + r); }},
        {"nor a square by its root", [](T x, T, T) { return x * x / x; }, [](T x, T, T) { return x * 1.0; }},
        {"square of a root", [](T x, T, T) { return sqrt(x) * sqrt(x); }, [](T x, T, T) { return x * 1.0; }},
        {"root of a square", [](T x, T, T) { return sqrt(x * x); }, [](T x, T, T) { return x * 1.0; }},
        {"root of a product", [](T x, T y, T) { return sqrt(x * y); }, [](T x, T y, T) { return sqrt(x) * sqrt(y); }},
        {"zero times a value", [](T x, T, T) { return x + 0 * x; }, [](T x, T, T) { return x * 1.0; }},
        {"zero times another value", [](T x, T, T) { return 0 * x; }, [](T, T y, T) { return 0 * y; }},
        {"two masks that add up",
         [](T x, T y, T r) { return x + where(x < y, zero(x), -1e30) + where(r < 1, zero(x), -1e30); },
         [](T x, T y, T r) { return where(x < y && r < 1, x, -1e30); }},
        {"a mask and what may be one", [](T x, T y, T) { return x + where(x < y, zero(x), -1e30); },
         [](T x, T y, T) { return where(x < y, x, -1e30); }},
        {"what is added to hidden scores too",
         [](T x, T y, T) { return where(seen(x, y), score(x, y), -1e30) + slice(x, -1, 0, 3); },
         [](T x, T y, T) { return where(seen(x, y), score(x, y) + slice(x, -1, 0, 3), -1e30); }},
        {"weak mask", [](T x, T y, T) { return x + where(x < y, 0 * y, -4); },
         [](T x, T y, T) { return where(x < y, x, -4); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

TEST(NormalizeArithmetic, AnOverlongSumIsNotFlattened) {
    Graph g("g");
    Tensor s = g.input("x", DType::f32, {4});
    for (int i = 0; i < 400; ++i) s = s + g.input("x" + std::to_string(i), DType::f32, {4});
    normal_form::NormalForms forms(*g.data());
    std::size_t longest = 0;
    for (ir::NodeId id = 0; id < g.size(); ++id)
        longest = std::max(longest, forms.normalizer().term(forms[id].core).parts.size());
    EXPECT_LE(longest, 9u);
}

TEST(NormalizeArithmetic, AnOverlongProductOrConditionIsNotFlattened) {
    Graph g("g");
    Tensor product = g.input("x", DType::f32, {4}), all = product > 0;
    for (int i = 0; i < 400; ++i) {
        const Tensor x = g.input("x" + std::to_string(i), DType::f32, {4});
        product = product * x;
        all = all && x > 0;
    }
    Tensor sum = g.input("n", DType::i64, {4});
    for (int i = 0; i < 400; ++i) sum = sum + g.input("n" + std::to_string(i), DType::i64, {4});
    normal_form::NormalForms forms(*g.data());
    std::size_t longest = 0;
    for (ir::NodeId id = 0; id < g.size(); ++id)
        longest = std::max(longest, forms.normalizer().term(forms[id].core).parts.size());
    EXPECT_LE(longest, 9u);
}

TEST(NormalizeArithmetic, InfinitiesAndZerosGiveNoNaN) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    const double inf = std::numeric_limits<double>::infinity();
    for (const double c : {0.0, -0.0, inf, -inf, 3e38, 1e-45})
        for (const Tensor& t :
             {x * c, x + c, x / (x * c), pow(x, c), sqrt(x * c), max(x, c), x * c + x * c, where(x < c, x, c)})
            g.output("y" + std::to_string(g.size()) + "_" + std::to_string(t.id()) +
                         std::to_string(g.data()->outputs().size()),
                     t);
    normal_form::NormalForms forms(*g.data());
    for (ir::NodeId id = 0; id < g.size(); ++id) {
        EXPECT_FALSE(forms[id].factor != forms[id].factor) << id;
        for (const normal_form::ScaledTerm& part : forms.normalizer().term(forms[id].core).parts)
            EXPECT_EQ(part.factor, part.factor) << id;
    }
}

TEST(NormalizeArithmetic, LikeTermsAndFactorsAreCombined) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 8);
    const Tensor x = g.input("x", DType::f32, {n}), y = g.input("y", DType::f32, {1});
    EXPECT_TRUE(same_form(x + x + x, 3 * x));
    EXPECT_TRUE(same_form(x * y * x, pow(x, 2) * y));
    EXPECT_TRUE(same_form(1 + x + 2, x + 3));
    EXPECT_FALSE(same_form(x + x, x * x));
    EXPECT_FALSE(same_form(x + 1e-3, x));
}

}  // namespace
}  // namespace cairn::test
