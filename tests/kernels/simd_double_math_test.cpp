#include "tests/kernels/simd_case.hpp"
#include "tests/kernels/ulps.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace cairn::test {
namespace {

using Wide = long double;

/// A function of doubles, the range where it is not 0, 1 or infinite, and the largest allowed error in ulp of the
/// result, or of the argument (for functions whose tail is small relative to it).
struct DoubleBound {
    const char* name;
    Wide (*exact)(Wide);
    double from, to;
    double ulps;
    bool of_argument = false;
};

Wide sigmoid(Wide x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Wide gelu(Wide x) { return x * 0.5L * std::erfc(-x / std::numbers::sqrt2_v<Wide>); }
Wide gelu_tanh(Wide x) {
    return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi_v<Wide>) * (x + 0.044715L * x * x * x));
}

constexpr DoubleBound bounds[] = {
    {"neg", [](Wide x) { return -x; }, -9, 9, 0},
    {"abs", [](Wide x) { return std::fabs(x); }, -9, 9, 0},
    {"floor", [](Wide x) { return std::floor(x); }, -99, 99, 0},
    {"relu", [](Wide x) { return x != x ? x : std::fmax(x, 0.0L); }, -9, 9, 0},
    {"sqrt", [](Wide x) { return std::sqrt(x); }, 0, 9, 0.501},
    {"rsqrt", [](Wide x) { return 1 / std::sqrt(x); }, 0, 9, 1.5},
    {"exp", [](Wide x) { return std::exp(x); }, -746, 710, 1},
    {"log", [](Wide x) { return std::log(x); }, 0, 4, 1},
    {"tanh", [](Wide x) { return std::tanh(x); }, -20, 20, 3},
    {"erf", [](Wide x) { return std::erf(x); }, -6, 6, 1.75},
    {"sin", [](Wide x) { return std::sin(x); }, -1.1e6, 1.1e6, 1},
    {"cos", [](Wide x) { return std::cos(x); }, -1.1e6, 1.1e6, 1},
    {"sigmoid", sigmoid, -750, 40, 2.5},
    {"gelu", gelu, -39, 9, 5},
    {"silu", [](Wide x) { return x * sigmoid(x); }, -40, 40, 2.25, true},
    {"gelu_tanh", gelu_tanh, -12, 12, 2.5, true},
};

// If long double is double, its own error is included.
constexpr double unseen = std::numeric_limits<Wide>::digits > 60 ? 0.001 : 1;

double error_of(const DoubleBound& bound, double x, double y) {
    const Wide exact = bound.exact(x);
    return error_in<double>(unit_of<double>(bound.of_argument ? x : exact), exact, y);
}

/// Doubles of all signs and exponents, the same number between `from` and `to`, twice as many near 0, and those nearest
/// to multiples of pi / 2, where sine or cosine cancels almost all digits.
std::vector<double> arguments_of(const DoubleBound& bound) {
    constexpr std::uint64_t count = 12000, step = ~std::uint64_t{0} / count;
    std::vector<double> made;
    for (std::uint64_t i = 0; i < count; ++i) made.push_back(std::bit_cast<double>(i * step + i));
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> between(bound.from, bound.to), near(-2, 2);
    for (std::uint64_t i = 0; i < count; ++i)
        for (const double x : {between(random), near(random), near(random)}) made.push_back(x);
    for (int i = 1; i < 4000; ++i)
        for (const int n : {i, 150 * i + 1})
            for (const Wide sign : {1.0L, -1.0L})
                made.push_back(static_cast<double>(sign * n * std::numbers::pi_v<Wide> / 2));
    return made;
}

class SimdDoubleMath : public SimdLevel {};

TEST_P(SimdDoubleMath, ErrorsAreWithinTheirBounds) {
    for (const DoubleBound& bound : bounds) {
        const std::vector<double> x = arguments_of(bound);
        const std::string size = "[" + std::to_string(x.size()) + "]";
        SimdCase c(std::string(bound.name) + " | f64" + size + " -> f64" + size);
        std::memcpy(c.inputs[0].arg().data, x.data(), x.size() * sizeof(double));
        c.run(kernel(bound.name));
        const auto* const y = reinterpret_cast<const double*>(c.outputs[0].arg().data);
        double worst = 0, at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double error = error_of(bound, x[i], y[i]);
            if (error > worst) worst = error, at = x[i];
        }
        EXPECT_LE(worst, bound.ulps + unseen) << bound.name << " at " << at;
    }
}

// In a vector's tail, and in the first lane.
TEST_P(SimdDoubleMath, SpecialValues) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const double arguments[] = {0.0,
                                -0.0,
                                inf,
                                -inf,
                                nan,
                                5e-324,
                                -5e-324,
                                0x1p-1022,
                                -0x1p-1022,
                                0x1p-1030,
                                0x1.fffffffffffffp1023,
                                -0x1.fffffffffffffp1023,
                                709.782712893384,
                                709.782712893385,
                                -708.4,
                                -745.13,
                                -745.14,
                                1.0,
                                -1.0,
                                -0.5,
                                1e6,
                                1000000.5,
                                -1e22,
                                1e300,
                                0x1p51,
                                0x1p52,
                                0x1.8p51,
                                4503599627370495.5,
                                -4503599627370495.5,
                                -2251799813685248.5};
    for (const DoubleBound& bound : bounds) {
        for (const double x : arguments) {
            SimdCase c(std::string(bound.name) + " | f64[17] -> f64[17]");
            for (int i = 0; i < 17; ++i) c.inputs[0].set(i, i == 0 || i == 16 ? x : 0.5);
            c.run(kernel(bound.name));
            for (const int i : {0, 16})
                EXPECT_LE(error_of(bound, x, c.outputs[0].get(i)), bound.ulps + unseen) << bound.name << " of " << x;
            EXPECT_LE(error_of(bound, 0.5, c.outputs[0].get(8)), bound.ulps + unseen) << bound.name << " beside " << x;
        }
    }
}

TEST_P(SimdDoubleMath, SignsOfZeroArePreserved) {
    for (const std::string name : {"tanh", "erf", "sin", "sqrt", "floor", "neg"}) {
        SimdCase c(name + " | f64[2] -> f64[2]");
        c.inputs[0].set(0, -0.0);
        c.inputs[0].set(1, 0.0);
        c.run(kernel(name));
        EXPECT_EQ(std::signbit(c.outputs[0].get(0)), name != "neg") << name;
        EXPECT_EQ(std::signbit(c.outputs[0].get(1)), name == "neg") << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdDoubleMath, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
