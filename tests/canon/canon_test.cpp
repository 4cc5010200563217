#include "canon/canon.hpp"

#include "cairn/ops.hpp"
#include "canon/forms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace cairn::test {
namespace {

using T = const Tensor&;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Two ways to write a value of x [N,3,4], y [N,3,4] and r [4], as the graph has them and no rule has touched them.
struct Pair {
    const char* text;
    Tensor (*a)(T x, T y, T r);
    Tensor (*b)(T x, T y, T r);
};

Tensor table(T x) { return reshape(x, {-1, 4}); }
Tensor zero(T x) { return Graph(x.graph()).constant(DType::f32, 0.0); }
Tensor six(T x) { return iota(Graph(x.graph()), 6); }

bool same_form(const Pair& pair) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 8);
    const Tensor x = g.input("x", DType::f32, {n, 3, 4}), y = g.input("y", DType::f32, {n, 3, 4}),
                 r = g.input("r", DType::f32, {4});
    const Tensor a = pair.a(x, y, r), b = pair.b(x, y, r);
    const canon::Forms forms(*g.data());
    return forms.canon().same(forms[a.id()], forms[b.id()]);
}

TEST(Canon, SameValuesHaveOneForm) {
    const Pair pairs[] = {
        {"an added mask", [](T x, T y, T) { return x + where(x < y, zero(x), -1e30); },
         [](T x, T y, T) { return where(x < y, x, -1e30); }},
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
        {"odd functions", [](T x, T y, T) { return tanh(y - x); }, [](T x, T y, T) { return -tanh(x - y); }},
        {"even functions", [](T x, T y, T) { return cos(y - x); }, [](T x, T y, T) { return cos(x - y); }},
        {"min by max", [](T x, T y, T) { return min(x, y); }, [](T x, T y, T) { return -max(-y, -x); }},
        {"scaled max", [](T x, T y, T) { return max(2 * x, 2 * y); }, [](T x, T y, T) { return 2 * max(y, x); }},
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
        {"leading ones",
         [](T x, T, T r) {
             return x + reshape(r, {1, 1, 4});
         },
         [](T x, T, T r) { return x + r; }},
        {"comparisons", [](T x, T y, T) { return where(x < y, x, y); },
         [](T x, T y, T) { return where(!(y > x), y, x); }},
        {"choices", [](T x, T y, T r) { return where(x < y, where(x < r, x, y), y); },
         [](T x, T y, T r) { return where(x < r && x < y, x, y); }},
        {"de Morgan", [](T x, T y, T r) { return where(x < y || x < r, x, y); },
         [](T x, T y, T r) { return where(!(x < y) && !(x < r), y, x); }},
        {"numbers in f32", [](T x, T, T) { return x * 0.70710678; }, [](T x, T, T) { return x / 1.41421356; }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(Canon, OtherValuesHaveOtherForms) {
    const Pair pairs[] = {
        {"sign", [](T x, T y, T) { return x - y; }, [](T x, T y, T) { return y - x; }},
        {"number off by 1e-5", [](T x, T, T) { return x * 1.00001; }, [](T x, T, T) { return x * 1.0; }},
        {"nothing is cancelled", [](T x, T y, T) { return x + y - y; }, [](T x, T, T) { return x * 1.0; }},
        {"nor in products", [](T x, T y, T) { return x * y / y; }, [](T x, T, T) { return x * 1.0; }},
        {"powers of sums within a sum", [](T x, T y, T r) { return r + x * rsqrt(y + r); },
         [](T x, T y, T r) { return r + x / (y + r); }},
        {"roots of sums within a sum", [](T x, T y, T r) { return r + x * sqrt(y + r); },
         [](T x, T y, T r) { return r + x * (y + r); }},
        {"nor a square by its root", [](T x, T, T) { return x * x / x; }, [](T x, T, T) { return x * 1.0; }},
        {"square of a root", [](T x, T, T) { return sqrt(x) * sqrt(x); }, [](T x, T, T) { return x * 1.0; }},
        {"maximum of the negative", [](T x, T, T) { return max_reduce(-x, {-1}); },
         [](T x, T, T) { return max_reduce(x, {-1}); }},
        {"root of a square", [](T x, T, T) { return sqrt(x * x); }, [](T x, T, T) { return x * 1.0; }},
        {"root of a product", [](T x, T y, T) { return sqrt(x * y); }, [](T x, T y, T) { return sqrt(x) * sqrt(y); }},
        {"negated floats", [](T x, T y, T) { return where(!(x < y), x, y); },
         [](T x, T y, T) { return where(x >= y, x, y); }},
        {"negative factor of max", [](T x, T y, T) { return max(-x, -y); }, [](T x, T y, T) { return -max(x, y); }},
        {"negative factor of a maximum", [](T x, T, T) { return max_reduce(-x, {-1}); },
         [](T x, T, T) { return -max_reduce(x, {-1}); }},
        {"axes", [](T x, T, T) { return sum(x, {-1}, true); }, [](T x, T, T) { return sum(x, {-2}, true); }},
        {"axis order",
         [](T x, T, T) {
             return transpose(x, {1, 0, 2});
         },
         [](T x, T, T) {
             return transpose(x, {0, 2, 1});
         }},
        {"dtype", [](T x, T, T) { return cast(cast(x, DType::f16), DType::f32); }, [](T x, T, T) { return x * 1.0; }},
        {"order of matmul", [](T x, T y, T) { return matmul(x, swap_axes(y, 1, 2)); },
         [](T x, T y, T) { return matmul(y, swap_axes(x, 1, 2)); }},
        {"reshape is no transpose",
         [](T x, T, T) {
             return reshape(x, {x.dim(0), 4, 3});
         },
         [](T x, T, T) { return swap_axes(x, 1, 2); }},
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
        {"order of a product of matrices", [](T x, T y, T) { return matmul(slice(x, -1, 0, 3), slice(y, -1, 0, 3)); },
         [](T x, T y, T) { return matmul(slice(y, -1, 0, 3), slice(x, -1, 0, 3)); }},
        {"padding", [](T x, T, T) { return pad(x, -1, 1, 1, 0.5); }, [](T x, T, T) { return pad(x, -1, 1, 1, 0.25); }},
        {"zero times a value", [](T x, T, T) { return x + 0 * x; }, [](T x, T, T) { return x * 1.0; }},
        {"zero times another value", [](T x, T, T) { return 0 * x; }, [](T, T y, T) { return 0 * y; }},
        {"two masks that add up",
         [](T x, T y, T r) { return x + where(x < y, zero(x), -1e30) + where(r < 1, zero(x), -1e30); },
         [](T x, T y, T r) { return where(x < y && r < 1, x, -1e30); }},
        {"weak mask", [](T x, T y, T) { return x + where(x < y, 0 * y, -4); },
         [](T x, T y, T) { return where(x < y, x, -4); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

TEST(Canon, NumbersOfF64AreComparedAsSuch) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f64, {4});
    const Tensor third = x * (1.0 / 3), exact = x / 3, rounded = x * 0.33333334;
    const canon::Forms forms(*g.data());
    EXPECT_TRUE(forms.canon().same(forms[third.id()], forms[exact.id()]));
    EXPECT_FALSE(forms.canon().same(forms[rounded.id()], forms[exact.id()]));
}

TEST(Canon, InfinityIsCloseToItselfAlone) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(canon::Canon::close(-infinity, -infinity));
    EXPECT_FALSE(canon::Canon::close(infinity, -infinity));
    EXPECT_FALSE(canon::Canon::close(0.5, infinity));
    EXPECT_FALSE(canon::Canon::close(-1e300, -infinity));
}

TEST(Canon, PositionsAreTheSameInI32AndI64) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 8);
    const auto same = [&](T a, T b) {
        const canon::Forms forms(*g.data());
        return forms.canon().same(forms[a.id()], forms[b.id()]);
    };
    EXPECT_TRUE(same(cast(iota(g, n, DType::i64, 3), DType::i32), iota(g, n, DType::i32) + 3));
    EXPECT_TRUE(same(cast(g.constant(DType::i32, n) - iota(g, n), DType::i64),
                     g.constant(DType::i64, n) - iota(g, n, DType::i64)));
    EXPECT_TRUE(same(iota(g, n) <= g.constant(DType::i32, n), iota(g, n, DType::i64) <= g.constant(DType::i64, n)));
    // Too large for i32: the cast saturates.
    const std::int64_t large = std::int64_t{1} << 30;
    EXPECT_FALSE(same(cast(iota(g, n, DType::i64, 2 * large) - large, DType::i32),
                      cast(iota(g, n, DType::i64, 2 * large), DType::i32) - large));
    const Tensor k = g.input("k", DType::i64, {4});
    EXPECT_FALSE(same(cast(k + 1, DType::i32), cast(k, DType::i32) + 1));
}

TEST(Canon, IntegersAreComparedExactly) {
    Graph g("g");
    const auto same = [&](T a, T b) {
        const canon::Forms forms(*g.data());
        return forms.canon().same(forms[a.id()], forms[b.id()]);
    };
    const Tensor k = g.input("k", DType::i32, {4}), l = g.input("l", DType::i64, {4});
    EXPECT_FALSE(same(k == 2000000, k == 2000001));
    EXPECT_FALSE(same(k + 20000000, k + 20000001));
    EXPECT_FALSE(same(k * 20000000, k * 20000001));
    EXPECT_FALSE(same(where(k < 0, 20000000, k), where(k < 0, 20000001, k)));
    EXPECT_FALSE(same(pad(k, 0, 1, 0, 20000000), pad(k, 0, 1, 0, 20000001)));
    EXPECT_FALSE(same(g.constant(DType::i32, {2}, std::vector<double>{1, 20000000}),
                      g.constant(DType::i32, {2}, std::vector<double>{1, 20000001})));
    EXPECT_TRUE(same(k + 20000000 + 1, k + 20000001));
    // 2^53 and 2^53 + 1 are one double.
    EXPECT_FALSE(same(l + 0x1p52 + 0x1p52, l + 0x1p52 + 0x1p52 + 1));
    EXPECT_FALSE(same(l * 0 + 0x1p52 + 0x1p52, l * 0 + 0x1p52 + 0x1p52 + 1));
}

// Coefficients and offsets beyond 64 bits are no sums of sizes; integers wrap there.
TEST(Canon, IntegersThatWrapHaveForms) {
    Graph g("g");
    const Tensor l = g.input("l", DType::i64, {4});
    Tensor y = l + 0x1p52;
    for (int i = 0; i < 4; ++i) y = y * 1000003;
    Tensor far = iota(g, 4, DType::i64, std::int64_t{1} << 62);
    const Tensor beyond = far + far + far, below = far <= -far - far;
    const canon::Forms forms(*g.data());
    EXPECT_FALSE(forms.canon().same(forms[beyond.id()], forms[y.id()]));
    EXPECT_FALSE(forms.canon().same(forms[below.id()], forms[y.id()]));
}

// Positions that leave i32 wrap there, and do not in i64.
TEST(Canon, PositionsThatWrapAreOtherNumbers) {
    Graph g("g");
    const Tensor narrow = cast(iota(g, 4) + 2147483646, DType::i64), wide = iota(g, 4, DType::i64) + 2147483646;
    const canon::Forms forms(*g.data());
    EXPECT_FALSE(forms.canon().same(forms[narrow.id()], forms[wide.id()]));
}

TEST(Canon, AnOverlongSumIsLeftWholeInSums) {
    Graph g("g");
    Tensor s = g.input("x", DType::f32, {4});
    for (int i = 0; i < 400; ++i) s = s + g.input("x" + std::to_string(i), DType::f32, {4});
    canon::Forms forms(*g.data());
    std::size_t longest = 0;
    for (ir::NodeId id = 0; id < g.size(); ++id)
        longest = std::max(longest, forms.canon().term(forms[id].core).parts.size());
    EXPECT_LE(longest, 9u);
}

TEST(Canon, AnOverlongProductOrConditionIsLeftWhole) {
    Graph g("g");
    Tensor product = g.input("x", DType::f32, {4}), all = product > 0;
    for (int i = 0; i < 400; ++i) {
        const Tensor x = g.input("x" + std::to_string(i), DType::f32, {4});
        product = product * x;
        all = all && x > 0;
    }
    Tensor sum = g.input("n", DType::i64, {4});
    for (int i = 0; i < 400; ++i) sum = sum + g.input("n" + std::to_string(i), DType::i64, {4});
    canon::Forms forms(*g.data());
    std::size_t longest = 0;
    for (ir::NodeId id = 0; id < g.size(); ++id)
        longest = std::max(longest, forms.canon().term(forms[id].core).parts.size());
    EXPECT_LE(longest, 9u);
}

// A value of which each step reads the one before three times.
Tensor leaky(Tensor x, int steps) {
    for (int i = 0; i < steps; ++i) x = where(x > 0, x, 0.1 * x);
    return x;
}

// As a tree this has 3^16 leaves.
TEST(Canon, WhatIsReadOftenIsMovedOnce) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4, 8});
    const Tensor a = reshape(leaky(x, 16), {8, 4}), b = leaky(reshape(x, {8, 4}), 16);
    const Tensor c = swap_axes(leaky(x, 16), 0, 1), d = leaky(swap_axes(x, 0, 1), 16);
    const canon::Forms forms(*g.data());
    EXPECT_TRUE(forms.canon().same(forms[a.id()], forms[b.id()]));
    EXPECT_TRUE(forms.canon().same(forms[c.id()], forms[d.id()]));
    EXPECT_LE(forms.canon().size(), g.size());
}

TEST(Canon, MovementGoesInwardUpToASize) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4, 8});
    Tensor y = x;
    for (int i = 0; i < 500; ++i) y = reshape(leaky(y, 10), i % 2 ? Shape{4, 8} : Shape{i % 4 ? 8 : 16, i % 4 ? 4 : 2});
    const Tensor whole = reshape(leaky(x, 500), {8, 4});
    const canon::Forms forms(*g.data());
    EXPECT_EQ(forms.canon().term(forms[whole.id()].core).op, ir::Op::reshape);
    EXPECT_LE(forms.canon().size(), 2 * g.size());
}

TEST(Canon, MovedIdsOfIdsTakeNoStack) {
    Graph g("g");
    const Tensor table = g.input("table", DType::i64, {9});
    Tensor ids = g.input("ids", DType::i64, {4, 2});
    for (int i = 0; i < 5000; ++i) ids = gather(table, ids, 0);
    const Tensor moved = reshape(ids, {8});
    const canon::Forms forms(*g.data());
    EXPECT_EQ(forms.canon().term(forms[moved.id()].core).op, ir::Op::reshape);
}

// However many forms differ in numbers alone, each is found again by numbers within the tolerance, on either side.
TEST(Canon, FormsThatDifferInNumbersAreFoundByNumbersCloseBy) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    const auto form = [&](double a, double b) { return sin(x * a + b); };
    std::vector<std::pair<Tensor, Tensor>> pairs;
    for (int i = 1; i < 2000; ++i) {
        const double a = 0.37 * i, b = -1e-3 * i * i, near = i % 2 ? 1 + 6e-7 : 1 - 6e-7;
        pairs.emplace_back(form(a, b), form(a * near, b * near));
    }
    const canon::Forms forms(*g.data());
    for (const auto& [a, b] : pairs) {
        EXPECT_TRUE(forms.canon().same(forms[a.id()], forms[b.id()]));
        EXPECT_EQ(forms.canon().same(forms[a.id()], forms[pairs[5].first.id()]), a.id() == pairs[5].first.id());
    }
}

TEST(Canon, InfinitiesAndZerosMakeNoNaN) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    const double inf = std::numeric_limits<double>::infinity();
    for (const double c : {0.0, -0.0, inf, -inf, 3e38, 1e-45})
        for (const Tensor& t :
             {x * c, x + c, x / (x * c), pow(x, c), sqrt(x * c), max(x, c), x * c + x * c, where(x < c, x, c)})
            g.output("y" + std::to_string(g.size()) + "_" + std::to_string(t.id()) +
                         std::to_string(g.data()->outputs().size()),
                     t);
    canon::Forms forms(*g.data());
    for (ir::NodeId id = 0; id < g.size(); ++id) {
        EXPECT_FALSE(forms[id].factor != forms[id].factor) << id;
        for (const canon::Scaled& part : forms.canon().term(forms[id].core).parts)
            EXPECT_EQ(part.factor, part.factor) << id;
    }
}

}  // namespace
}  // namespace cairn::test
