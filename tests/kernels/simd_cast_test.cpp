#include "graph/ir/scalar_cast.hpp"
#include "kernels/cpu/reference/registration.hpp"
#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cairn::test {
namespace {

/// Rounds an integer to `digits` significant bits, ties to even, in integer arithmetic.
double nearest_float(std::int64_t x, int digits, double largest) {
    const std::uint64_t magnitude = x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    const int dropped = std::max(static_cast<int>(std::bit_width(magnitude)) - digits, 0);
    std::uint64_t kept = magnitude >> dropped;
    const std::uint64_t twice_rest = (magnitude - (kept << dropped)) * 2, unit = std::uint64_t{1} << dropped;
    if (dropped > 0 && (twice_rest > unit || (twice_rest == unit && kept % 2 == 1))) ++kept;
    const double value = std::ldexp(static_cast<double>(kept), dropped);
    return std::copysign(value > largest ? INFINITY : value, x < 0 ? -1.0 : 1.0);
}

/// Integers of every size: midpoints between floats of 8, 11, 24 and 53 digits, their neighbours by one and by a power
/// of two, and random numbers.
std::vector<std::int64_t> integers_beside_ties() {
    std::mt19937_64 random(1);
    std::vector<std::int64_t> made = {
        0, 65519, 65520, 65521, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    for (int bits = 1; bits < 64; ++bits)
        for (const int digits : {8, 11, 24, 53})
            for (int i = 0; i < 16; ++i) {
                const int dropped = std::max(bits - digits, 1);
                const std::uint64_t any = (random() | std::uint64_t{1} << 63) >> (64 - bits), one = 1;
                const std::uint64_t tie = (any >> dropped << dropped) + (one << (dropped - 1));
                const std::uint64_t step = one << random() % static_cast<unsigned>(dropped);
                for (const std::uint64_t x : {any, tie, tie - 1, tie + 1, tie - step, tie + step})
                    for (const std::uint64_t y : {x, 0 - x}) made.push_back(static_cast<std::int64_t>(y));
            }
    return made;
}

class SimdCast : public SimdLevel {};

// Compares the vector kernels, the reference kernel and the interpreter with integer arithmetic.
TEST_P(SimdCast, IntegersAreRoundedOnce) {
    std::vector<Kernel> reference;
    kernels::cpu::reference::add_elementwise(reference);
    const auto cast_all = [&]<typename T>(T, const std::string& from) {
        std::vector<T> x;
        for (const std::int64_t integer : integers_beside_ties()) x.push_back(static_cast<T>(integer));
        const std::string size = "[" + std::to_string(x.size()) + "]";
        const struct {
            DType dtype;
            int digits;
            double largest;
        } formats[] = {{DType::bf16, 8, 0x1.fep127},
                       {DType::f16, 11, 65504},
                       {DType::f32, 24, 0x1p127},
                       {DType::f64, 53, 0x1p127}};
        for (const auto& [to, digits, largest] : formats) {
            SimdCase c("cast | " + from + size + " -> " + std::string(to_string(to)) + size);
            std::memcpy(c.inputs[0].arg().data, x.data(), x.size() * sizeof(T));
            SimdCase plain = c;
            plain.outputs[0] = c.outputs[0].copy();
            c.run(find(kernels_of(GetParam()), "cast"));
            plain.run(find(reference, "cast"));
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double expected = nearest_float(x[i], digits, largest);
                const auto at = static_cast<std::int64_t>(i);
                ASSERT_EQ(c.outputs[0].get(at), expected) << from << " " << +x[i] << " to " << to_string(to);
                ASSERT_EQ(plain.outputs[0].get(at), expected) << from << " " << +x[i] << " to " << to_string(to);
                ASSERT_EQ(ir::round_integer(to, x[i]), expected) << +x[i] << " to " << to_string(to);
            }
        }
    };
    cast_all(std::int64_t{}, "i64");
    cast_all(std::int32_t{}, "i32");
    cast_all(std::int8_t{}, "i8");
    cast_all(std::uint8_t{}, "u8");
}

/// Doubles of all sizes of f16 and bf16, including subnormals, and beyond: midpoints between adjacent numbers, and
/// neighbours closer than a float resolves.
std::vector<double> doubles_beside_ties() {
    std::mt19937_64 random(2);
    std::vector<double> made = {0.0,  -0.0, INFINITY, -INFINITY, 65520 - 1e-9, 65520, 0x1.ffp127, 0x1.fefffffffffffp127,
                                1e300};
    for (int exponent = -151; exponent < 130; ++exponent)
        for (const int digits : {8, 11}) {
            const auto mantissa = static_cast<double>(2 * (random() % (1u << digits) + (1u << digits)) + 1);
            const double tie = std::ldexp(mantissa, exponent - digits - 1);
            for (const double beside : {tie, tie * (1 + 0x1p-40), tie * (1 - 0x1p-40), std::nextafter(tie, 0)})
                for (const double x : {beside, -beside}) made.push_back(x);
        }
    return made;
}

// Compares with the reference kernel, which converts doubles directly to 16 bits.
TEST_P(SimdCast, DoublesAreRoundedOnce) {
    std::vector<Kernel> reference;
    kernels::cpu::reference::add_elementwise(reference);
    const std::vector<double> x = doubles_beside_ties();
    const std::string size = "[" + std::to_string(x.size()) + "]";
    for (const std::string to : {"f16", "bf16"}) {
        SimdCase c("cast | f64" + size + " -> " + to + size);
        std::memcpy(c.inputs[0].arg().data, x.data(), x.size() * sizeof(double));
        SimdCase plain = c;
        plain.outputs[0] = c.outputs[0].copy();
        c.run(find(kernels_of(GetParam()), "cast"));
        plain.run(find(reference, "cast"));
        for (std::int64_t i = 0; i < c.outputs[0].size(); ++i) {
            const double y = c.outputs[0].get(i), expected = plain.outputs[0].get(i);
            ASSERT_EQ(y, expected) << x[static_cast<std::size_t>(i)] << " to " << to;
            ASSERT_EQ(std::signbit(y), std::signbit(expected)) << x[static_cast<std::size_t>(i)] << " to " << to;
        }
    }
}

// A value rounded to 16 bits before a wider result, whose store does not round it: alone, and with a 16-bit result that
// is the same value.
TEST_P(SimdCast, IntermediateNarrowingRounds) {
    const std::vector<double> x = {-0x1p63, 65520, 1 + 0x1p-20, 1.0 / 3, -0x1p-26, 0};
    const std::string size = "[" + std::to_string(x.size()) + "]";
    for (const std::string half : {"f16", "bf16"})
        for (const std::string from : {"f32", "f64"})
            for (const std::string also : {"", "before", "behind"}) {
                const std::string wide = "f32" + size, narrow = half + size;
                std::string text = "elementwise {1=cast(0):" + half + " 2=cast(1):f32} | " + from + size + " -> ";
                if (also.empty()) text += wide + " results (2)";
                if (also == "before") text += narrow + " " + wide + " results (1,2)";
                if (also == "behind") text += wide + " " + narrow + " results (2,1)";
                SimdCase c(text), rounded("cast | " + from + size + " -> " + narrow);
                for (std::size_t i = 0; i < x.size(); ++i)
                    for (SimdCase* each : {&c, &rounded}) each->inputs[0].set(static_cast<std::int64_t>(i), x[i]);
                c.run(find(kernels_of(GetParam()), "elementwise"));
                rounded.run(find(kernels_of(GetParam()), "cast"));
                for (const Operand& output : c.outputs)
                    for (std::int64_t i = 0; i < output.size(); ++i)
                        EXPECT_EQ(output.get(i), rounded.outputs[0].get(i)) << text << " at " << i;
            }
}

// Compares with the reference kernel.
TEST_P(SimdCast, FloatsAreTruncatedAndSaturated) {
    std::vector<Kernel> reference;
    kernels::cpu::reference::add_elementwise(reference);
    std::vector<double> x = {NAN, INFINITY, 1e300, 0x1p31, 0x1p-1070, 0x1p-24};
    for (const double limit : {1.0, 127.0, 128.0, 129.0, 255.0, 256.0})
        for (const double beside : {limit, limit - 0x1p-40, limit + 0x1p-40, limit - 0.5}) x.push_back(beside);
    for (std::size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
    const std::string size = "[" + std::to_string(x.size()) + "]";
    for (const std::string from : {"f64", "f32", "f16", "bf16"})
        for (const std::string to : {"i8", "u8", "bool"}) {
            SimdCase c("cast | " + from + size + " -> " + to + size);
            for (std::size_t i = 0; i < x.size(); ++i) c.inputs[0].set(static_cast<std::int64_t>(i), x[i]);
            SimdCase plain = c;
            plain.outputs[0] = c.outputs[0].copy();
            c.run(find(kernels_of(GetParam()), "cast"));
            plain.run(find(reference, "cast"));
            for (std::int64_t i = 0; i < c.outputs[0].size(); ++i)
                ASSERT_EQ(c.outputs[0].get(i), plain.outputs[0].get(i))
                    << c.inputs[0].get(i) << " as " << from << " to " << to;
        }
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdCast, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
