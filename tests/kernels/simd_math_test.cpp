#include "tests/kernels/simd_case.hpp"
#include "tests/kernels/ulps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cairn::test {
namespace {

/// A function and its largest allowed error in ulp of the result, or of the argument (for functions whose tail is small
/// relative to it).
struct Bound {
    const char* name;
    double (*exact)(double);
    double ulps;
    bool of_argument;
};

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double gelu_tanh(double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }

constexpr Bound bounds[] = {
    {"neg", [](double x) { return -x; }, 0, false},
    {"abs", [](double x) { return std::fabs(x); }, 0, false},
    {"floor", [](double x) { return std::floor(x); }, 0, false},
    {"relu", [](double x) { return x != x ? x : std::fmax(x, 0); }, 0, false},
    {"sqrt", [](double x) { return std::sqrt(x); }, 0.5, false},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5, false},
    {"exp", [](double x) { return std::exp(x); }, 1, false},
    {"log", [](double x) { return std::log(x); }, 1, false},
    {"tanh", [](double x) { return std::tanh(x); }, 1.5, false},
    {"erf", [](double x) { return std::erf(x); }, 1.5, false},
    {"sin", [](double x) { return std::sin(x); }, 2.5, false},
    {"cos", [](double x) { return std::cos(x); }, 2.5, false},
    {"sigmoid", sigmoid, 2.5, false},
    {"gelu", [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, 5, false},
    {"silu", [](double x) { return x * sigmoid(x); }, 2, true},
    {"gelu_tanh", gelu_tanh, 2.5, true},
};

double error_of(const Bound& bound, float x, float y) {
    const double exact = bound.exact(x);
    return error_in<float>(unit_of<float>(bound.of_argument ? x : exact), exact, y);
}

class SimdMath : public SimdLevel {};

// Every 8191st float, all signs and exponents: half a million arguments per function.
TEST_P(SimdMath, ErrorsAreWithinTheirBounds) {
    constexpr std::int64_t block = 1 << 16;
    constexpr std::uint32_t step = 8191;
    for (const Bound& bound : bounds) {
        double worst = 0;
        float at = 0;
        SimdCase c(std::string(bound.name) + " | f32[65536] -> f32[65536]");
        for (std::uint64_t first = 0; first < (1ull << 32); first += block * step) {
            for (std::int64_t i = 0; i < block; ++i) {
                const auto x =
                    std::bit_cast<float>(static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(i) * step));
                reinterpret_cast<float*>(c.inputs[0].arg().data)[i] = x;
            }
            c.run(find(kernels_of(GetParam()), bound.name));
            for (std::int64_t i = 0; i < block; ++i) {
                const float x = reinterpret_cast<float*>(c.inputs[0].arg().data)[i];
                const double error = error_of(bound, x, reinterpret_cast<float*>(c.outputs[0].arg().data)[i]);
                if (error > worst) worst = error, at = x;
            }
        }
        EXPECT_LE(worst, bound.ulps) << bound.name << " at " << at;
    }
}

/// The largest error of a function on a range of negative numbers, in ulp of the result.
struct TailBound {
    const char* name;
    float from, to;
    double ulps;
};

// Where x/2 (1 + erf(x / sqrt 2)) and x/2 (1 + tanh u) would cancel: every 67th float, two and a half million
// arguments.
TEST_P(SimdMath, TailsOfGeluAreWithinTheirStatedError) {
    constexpr TailBound tails[] = {{"gelu", -0.01f, -1, 4.8},    {"gelu", -1, -14.5f, 3.95},
                                   {"gelu_tanh", -0.01f, -1, 4}, {"gelu_tanh", -1, -2, 11.5},
                                   {"gelu_tanh", -2, -6, 69},    {"gelu_tanh", -6, -12, 225}};
    constexpr int block = 1 << 14;
    constexpr std::uint32_t step = 67;
    for (const TailBound& tail : tails) {
        const std::string name = tail.name;
        Bound bound =
            *std::find_if(std::begin(bounds), std::end(bounds), [&](const Bound& b) { return name == b.name; });
        bound.of_argument = false;
        double worst = 0;
        float at = 0;
        SimdCase c(name + " | f32[16384] -> f32[16384]");
        auto* const x = reinterpret_cast<float*>(c.inputs[0].arg().data);
        const auto last = std::bit_cast<std::uint32_t>(tail.to);
        for (auto bits = std::bit_cast<std::uint32_t>(tail.from); bits < last; bits += block * step) {
            for (std::uint32_t i = 0; i < block; ++i) x[i] = std::bit_cast<float>(std::min(bits + i * step, last));
            c.run(find(kernels_of(GetParam()), name));
            for (int i = 0; i < block; ++i) {
                const double error = error_of(bound, x[i], reinterpret_cast<float*>(c.outputs[0].arg().data)[i]);
                if (error > worst) worst = error, at = x[i];
            }
        }
        EXPECT_LE(worst, tail.ulps) << name << " at " << at;
    }
}

TEST_P(SimdMath, SpecialValues) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const float arguments[] = {0.0f,       -0.0f,           inf,           -inf,           nan,       1e-45f,
                               -1e-45f,    1.17549435e-38f, 3.4028235e38f, -3.4028235e38f, 88.72283f, 88.72284f,
                               -87.33655f, -103.97208f,     -103.97209f,   1.0f,           1e30f,     30000.0f,
                               1e7f,       8388608.0f,      8388607.5f,    -0.5f};
    for (const Bound& bound : bounds) {
        for (const float x : arguments) {
            // In a vector's tail, and in the first lane.
            SimdCase c(std::string(bound.name) + " | f32[33] -> f32[33]");
            for (int i = 0; i < 33; ++i) c.inputs[0].set(i, i == 0 || i == 32 ? x : 0.5);
            c.run(find(kernels_of(GetParam()), bound.name));
            for (const int i : {0, 32}) {
                const auto y = static_cast<float>(c.outputs[0].get(i));
                if (std::string(bound.name) == "neg" || x != 0.0f) {
                    EXPECT_LE(error_of(bound, x, y), bound.ulps) << bound.name << " of " << x << " gives " << y;
                } else {
                    EXPECT_EQ(y, static_cast<float>(bound.exact(x))) << bound.name << " of " << x;
                }
            }
            EXPECT_LE(error_of(bound, 0.5f, static_cast<float>(c.outputs[0].get(16))), bound.ulps) << bound.name;
        }
    }
}

TEST_P(SimdMath, SignsOfZeroArePreserved) {
    for (const char* name : {"tanh", "erf", "sin", "sqrt", "floor", "neg"}) {
        SimdCase c(std::string(name) + " | f32[2] -> f32[2]");
        c.inputs[0].set(0, -0.0);
        c.inputs[0].set(1, 0.0);
        c.run(find(kernels_of(GetParam()), name));
        const bool flips = std::string(name) == "neg";
        EXPECT_EQ(std::signbit(c.outputs[0].get(0)), !flips) << name;
        EXPECT_EQ(std::signbit(c.outputs[0].get(1)), flips) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdMath, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
