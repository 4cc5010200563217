#include "tests/kernels/simd_case.hpp"
#include "tests/kernels/ulps.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cairn::test {
namespace {

using Wide = long double;

template <typename T>
struct Pairs {
    std::vector<T> x, y;
};

/// pow of each pair by the level's kernel.
template <typename T>
std::vector<T> powers(const Kernel& kernel, const Pairs<T>& pairs) {
    const std::string tensor = (sizeof(T) == 4 ? "f32[" : "f64[") + std::to_string(pairs.x.size()) + "]";
    SimdCase c("pow | " + tensor + " " + tensor + " -> " + tensor);
    std::memcpy(c.inputs[0].arg().data, pairs.x.data(), pairs.x.size() * sizeof(T));
    std::memcpy(c.inputs[1].arg().data, pairs.y.data(), pairs.y.size() * sizeof(T));
    c.run(kernel);
    std::vector<T> made(pairs.x.size());
    std::memcpy(made.data(), c.outputs[0].arg().data, made.size() * sizeof(T));
    return made;
}

/// Bases of all exponents, between 1/e and e, and increasingly close to 1, with exponents for which the power is
/// neither 0 nor infinite.
template <typename T>
Pairs<T> moderate_pairs() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<T> around(-1, 1);
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const double most = sizeof(T) == 4 ? 104 : 746;
    Pairs<T> pairs;
    for (int i = 0; i < 60000; ++i) {
        T x = std::fabs(std::bit_cast<T>(static_cast<Bits>(random())));
        if (i % 3 == 1) x = std::exp(around(random));
        if (i % 3 == 2) x = 1 + around(random) * std::ldexp(T{1}, -i % std::numeric_limits<T>::digits);
        if (!std::isfinite(x) || x == 0 || x == 1) x = T{2.5};
        pairs.x.push_back(x);
        pairs.y.push_back(static_cast<T>(around(random) * most / std::fabs(std::log(static_cast<double>(x)))));
    }
    return pairs;
}

template <typename T>
std::vector<T> special_numbers() {
    using Limits = std::numeric_limits<T>;
    const T fraction_less = std::ldexp(T{1}, Limits::digits - 1);
    std::vector<T> made = {0, 1, 2, 3, T{0.5}, T{2.5}, static_cast<T>(1e30), static_cast<T>(1e-30)};
    for (const T x : {Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::min(), Limits::max(),
                      1 + Limits::epsilon(), 1 - Limits::epsilon() / 2})
        made.push_back(x);
    // The smallest numbers from which on there are no fractions, and no odd integers.
    for (const T x : {fraction_less - T{0.5}, fraction_less - 1, fraction_less, fraction_less + 1,
                      2 * fraction_less - 1, 2 * fraction_less, 2 * fraction_less + 2})
        made.push_back(x);
    const std::size_t count = made.size();
    for (std::size_t i = 0; i < count; ++i) made.push_back(-made[i]);
    return made;
}

class SimdPower : public SimdLevel {
protected:
    template <typename T>
    void expect_errors_within(double ulps) {
        const Pairs<T> pairs = moderate_pairs<T>();
        const std::vector<T> made = powers(kernel("pow"), pairs);
        double worst = 0;
        std::size_t at = 0;
        for (std::size_t i = 0; i < made.size(); ++i) {
            const Wide exact = std::pow(static_cast<Wide>(pairs.x[i]), static_cast<Wide>(pairs.y[i]));
            const double error = error_in<T>(unit_of<T>(exact), exact, made[i]);
            if (error > worst) worst = error, at = i;
        }
        EXPECT_LE(worst, ulps) << pairs.x[at] << " to the power of " << pairs.y[at];
    }

    // Vectors of only positive finite bases take a shorter path; results must be equal on both.
    template <typename T>
    void expect_same_beside_special_values() {
        Pairs<T> pairs = moderate_pairs<T>();
        const std::vector<T> alone = powers(kernel("pow"), pairs);
        const std::vector<T> special = special_numbers<T>();
        const std::size_t count = special.size();
        for (std::size_t i = 0; i < alone.size(); i += 3) {
            pairs.x[i] = special[i / 3 % count];
            pairs.y[i] = special[i / 3 / count % count];
        }
        const std::vector<T> among = powers(kernel("pow"), pairs);
        for (std::size_t i = 0; i < alone.size(); ++i)
            if (i % 3 != 0) { ASSERT_EQ(alone[i], among[i]) << pairs.x[i] << " to the power of " << pairs.y[i]; }
    }

    // Each special number to the power of each: the cases of C (Annex F).
    template <typename T>
    void expect_special_values() {
        const std::vector<T> numbers = special_numbers<T>();
        Pairs<T> pairs;
        for (const T x : numbers)
            for (const T y : numbers) pairs.x.push_back(x), pairs.y.push_back(y);
        const std::vector<T> made = powers(kernel("pow"), pairs);
        for (std::size_t i = 0; i < made.size(); ++i) {
            const Wide exact = std::pow(static_cast<Wide>(pairs.x[i]), static_cast<Wide>(pairs.y[i]));
            EXPECT_LE(error_in<T>(unit_of<T>(exact), exact, made[i]), 2)
                << pairs.x[i] << " to the power of " << pairs.y[i] << " gives " << made[i];
            if (!std::isnan(made[i])) {
                EXPECT_EQ(std::signbit(made[i]), std::signbit(exact))
                    << pairs.x[i] << " to the power of " << pairs.y[i] << " gives " << made[i];
            }
        }
    }
};

TEST_P(SimdPower, ErrorsOfFloatsAreWithinTheirBound) { expect_errors_within<float>(0.51); }
TEST_P(SimdPower, ErrorsOfDoublesAreWithinTheirBound) {
    // If long double is double, its own error is included.
    expect_errors_within<double>(std::numeric_limits<Wide>::digits > 60 ? 1.25 : 2.25);
}
TEST_P(SimdPower, FloatsDoNotDependOnSpecialValuesInOtherLanes) { expect_same_beside_special_values<float>(); }
TEST_P(SimdPower, DoublesDoNotDependOnSpecialValuesInOtherLanes) { expect_same_beside_special_values<double>(); }
TEST_P(SimdPower, SpecialValuesOfFloats) { expect_special_values<float>(); }
TEST_P(SimdPower, SpecialValuesOfDoubles) { expect_special_values<double>(); }

INSTANTIATE_TEST_SUITE_P(Levels, SimdPower, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
