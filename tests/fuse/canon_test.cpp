#include "fuse/canon.hpp"

#include "cairn/ops.hpp"
#include "fuse/forms.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using T = const Tensor&;

// Two ways to write a value of x [N,3,4], y [N,3,4] and r [4], as the graph has them and no rule has touched them.
struct Pair {
    const char* text;
    Tensor (*a)(T x, T y, T r);
    Tensor (*b)(T x, T y, T r);
};

bool same_form(const Pair& pair) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 8);
    const Tensor x = g.input("x", DType::f32, {n, 3, 4}), y = g.input("y", DType::f32, {n, 3, 4}), r = g.input("r", DType::f32, {4});
    const Tensor a = pair.a(x, y, r), b = pair.b(x, y, r);
    const fuse::Forms forms(*g.data());
    return fuse::Canon::same(forms[a.id()], forms[b.id()]);
}

TEST(Canon, SameValuesHaveOneForm) {
    const Pair pairs[] = {
        {"order of a sum", [](T x, T y, T r) { return x + (y + r); }, [](T x, T y, T r) { return (r + x) + y; }},
        {"order of a product", [](T x, T y, T r) { return x * (y * r); }, [](T x, T y, T r) { return (r * x) * y; }},
        {"differences", [](T x, T y, T) { return x - y; }, [](T x, T y, T) { return -(y - x); }},
        {"distribution", [](T x, T y, T r) { return x * (y + r); }, [](T x, T y, T r) { return x * y + r * x; }},
        {"distribution in a sum", [](T x, T y, T r) { return r + x * (y + r); }, [](T x, T y, T r) { return x * y + (r * x + r); }},
        {"coefficients", [](T x, T y, T) { return 2 * (x / 3 + y); }, [](T x, T y, T) { return x * (2.0 / 3) + 2 * y; }},
        {"powers", [](T x, T, T) { return x * x * x; }, [](T x, T, T) { return pow(x, 3); }},
        {"roots", [](T x, T y, T) { return y / sqrt(x); }, [](T x, T y, T) { return y * rsqrt(x); }},
        {"roots of multiples", [](T x, T, T) { return sqrt(4 * x); }, [](T x, T, T) { return 2 * sqrt(x); }},
        {"roots of negatives", [](T x, T, T) { return sqrt(-4 * x); }, [](T x, T, T) { return 2 * pow(-x, 0.5); }},
        {"e to a power", [](T x, T, T) { return 1 / exp(x); }, [](T x, T, T) { return exp(-x); }},
        {"odd functions", [](T x, T y, T) { return tanh(y - x); }, [](T x, T y, T) { return -tanh(x - y); }},
        {"even functions", [](T x, T y, T) { return cos(y - x); }, [](T x, T y, T) { return cos(x - y); }},
        {"min by max", [](T x, T y, T) { return min(x, y); }, [](T x, T y, T) { return -max(-y, -x); }},
        {"scaled max", [](T x, T y, T) { return max(2 * x, 2 * y); }, [](T x, T y, T) { return 2 * max(y, x); }},
        {"factor of a product", [](T x, T, T r) { return matmul(x * 2, reshape(r, {4, 1})); }, [](T x, T, T r) { return matmul(x, reshape(r * 2, {4, 1})); }},
        {"factor of a sum", [](T x, T, T) { return sum(x * 0.25, {-1}); }, [](T x, T, T) { return sum(x, {-1}) / 4; }},
        {"factor of a maximum", [](T x, T, T) { return max_reduce(3 * x, {-1}); }, [](T x, T, T) { return 3 * max_reduce(x, {-1}); }},
        {"movement goes inward", [](T x, T y, T) { return reshape(tanh(x + y), {-1}); }, [](T x, T y, T) { return tanh(reshape(x, {-1}) + reshape(y, {-1})); }},
        {"movement is composed", [](T x, T, T) { return transpose(transpose(x, {1, 0, 2}), {2, 1, 0}); }, [](T x, T, T) { return transpose(x, {2, 0, 1}); }},
        {"leading ones", [](T x, T, T r) { return x + reshape(r, {1, 1, 4}); }, [](T x, T, T r) { return x + r; }},
        {"comparisons", [](T x, T y, T) { return where(x < y, x, y); }, [](T x, T y, T) { return where(!(y > x), y, x); }},
        {"choices", [](T x, T y, T r) { return where(x < y, where(x < r, x, y), y); }, [](T x, T y, T r) { return where(x < r && x < y, x, y); }},
        {"de Morgan", [](T x, T y, T r) { return where(x < y || x < r, x, y); }, [](T x, T y, T r) { return where(!(x < y) && !(x < r), y, x); }},
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
        {"root of a square", [](T x, T, T) { return sqrt(x * x); }, [](T x, T, T) { return x * 1.0; }},
        {"root of a product", [](T x, T y, T) { return sqrt(x * y); }, [](T x, T y, T) { return sqrt(x) * sqrt(y); }},
        {"negated floats", [](T x, T y, T) { return where(!(x < y), x, y); }, [](T x, T y, T) { return where(x >= y, x, y); }},
        {"negative factor of max", [](T x, T y, T) { return max(-x, -y); }, [](T x, T y, T) { return -max(x, y); }},
        {"negative factor of a maximum", [](T x, T, T) { return max_reduce(-x, {-1}); }, [](T x, T, T) { return -max_reduce(x, {-1}); }},
        {"axes", [](T x, T, T) { return sum(x, {-1}, true); }, [](T x, T, T) { return sum(x, {-2}, true); }},
        {"axis order", [](T x, T, T) { return transpose(x, {1, 0, 2}); }, [](T x, T, T) { return transpose(x, {0, 2, 1}); }},
        {"dtype", [](T x, T, T) { return cast(cast(x, DType::f16), DType::f32); }, [](T x, T, T) { return x * 1.0; }},
        {"order of matmul", [](T x, T y, T) { return matmul(x, swap_axes(y, 1, 2)); }, [](T x, T y, T) { return matmul(y, swap_axes(x, 1, 2)); }},
        {"reshape is no transpose", [](T x, T, T) { return reshape(x, {x.dim(0), 4, 3}); }, [](T x, T, T) { return swap_axes(x, 1, 2); }},
        {"weak mask", [](T x, T y, T) { return x + where(x < y, 0 * y, -4); }, [](T x, T y, T) { return where(x < y, x, -4); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

TEST(Canon, AnOverlongSumIsLeftWholeInSums) {
    Graph g("g");
    Tensor s = g.input("x", DType::f32, {4});
    for (int i = 0; i < 400; ++i) s = s + g.input("x" + std::to_string(i), DType::f32, {4});
    const fuse::Forms forms(*g.data());
    std::size_t longest = 0;
    fuse::Forms again(*g.data());
    for (const auto id : {s.id()}) longest = std::max(longest, again.canon().term(forms[id].core).parts.size());
    EXPECT_LE(longest, 16u);
}

TEST(Canon, InfinitiesAndZerosMakeNoNaN) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    const double inf = std::numeric_limits<double>::infinity();
    for (const double c : {0.0, -0.0, inf, -inf, 3e38, 1e-45})
        for (const Tensor& t : {x * c, x + c, x / (x * c), pow(x, c), sqrt(x * c), max(x, c), x * c + x * c, where(x < c, x, c)})
            g.output("y" + std::to_string(g.size()) + "_" + std::to_string(t.id()) + std::to_string(g.data()->outputs().size()), t);
    fuse::Forms forms(*g.data());
    for (ir::NodeId id = 0; id < g.size(); ++id) {
        EXPECT_FALSE(forms[id].factor != forms[id].factor) << id;
        for (const fuse::Scaled& part : forms.canon().term(forms[id].core).parts) EXPECT_EQ(part.factor, part.factor) << id;
    }
}

}  // namespace
}  // namespace cairn::test
