#include "graph/types/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace cairn {
namespace {

/// A 16-bit format given by its widths, decoded by the definition: slow and plain.
struct Format {
    int exponent_bits, mantissa_bits;

    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    int all_ones() const { return (1 << exponent_bits) - 1; }
    std::uint16_t infinity() const { return static_cast<std::uint16_t>(all_ones() << mantissa_bits); }

    double decode(std::uint16_t code) const {
        const int mantissa = code & ((1 << mantissa_bits) - 1), exponent = (code & 0x7fff) >> mantissa_bits;
        double value = 0;
        if (exponent == all_ones()) {
            value = mantissa != 0 ? std::nan("") : HUGE_VAL;
        } else if (exponent == 0) {
            value = std::ldexp(mantissa, 1 - bias() - mantissa_bits);
        } else {
            value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias() - mantissa_bits);
        }
        return (code & 0x8000) != 0 ? -value : value;
    }

    // The nearest code, ties to even; magnitudes at least half a step above the greatest finite value are infinite.
    std::uint16_t encode(double value) const {
        const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
        const double magnitude = std::fabs(value);
        std::uint16_t low = 0, high = infinity();
        while (high - low > 1) {
            const auto middle = static_cast<std::uint16_t>((low + high) / 2);
            (decode(middle) <= magnitude ? low : high) = middle;
        }
        if (std::isinf(magnitude)) return sign | infinity();
        const double step = std::ldexp(1, all_ones() - 1 - bias() - mantissa_bits);
        const double above = high == infinity() ? decode(low) + step : decode(high);
        const double down = magnitude - decode(low), up = above - magnitude;
        const bool rounds_up = up < down || (up == down && (high & 1) == 0);
        return static_cast<std::uint16_t>(sign | (rounds_up ? high : low));
    }
};

constexpr Format f16{5, 10}, bf16{8, 7};

template <typename T, typename Encode>
void compare(const Format& format, Encode encode, T value) {
    ASSERT_EQ(encode(value), format.encode(value)) << std::hexfloat << value;
}

TEST(Half, AllCodesDecodeExactlyAndRoundTrip) {
    for (int i = 0; i < 65536; ++i) {
        const auto code = static_cast<std::uint16_t>(i);
        const float half = types::f16_to_f32(code), brain = types::bf16_to_f32(code);
        if (std::isnan(f16.decode(code))) {
            ASSERT_TRUE(std::isnan(half));
            ASSERT_EQ(types::f32_to_f16(half), code | 0x0200);
        } else {
            ASSERT_EQ(half, f16.decode(code)) << i;
            ASSERT_EQ(std::signbit(half), (code & 0x8000) != 0);
            ASSERT_EQ(types::f32_to_f16(half), code);
            ASSERT_EQ(types::f64_to_f16(half), code);
        }
        if (std::isnan(bf16.decode(code))) {
            ASSERT_TRUE(std::isnan(brain));
            ASSERT_EQ(types::f32_to_bf16(brain), code | 0x0040);
        } else {
            ASSERT_EQ(brain, bf16.decode(code)) << i;
            ASSERT_EQ(types::f32_to_bf16(brain), code);
            ASSERT_EQ(types::f64_to_bf16(brain), code);
        }
    }
}

TEST(Half, RandomFloatsRoundLikeTheSlowReference) {
    std::mt19937 random(1);
    for (int i = 0; i < 1000000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(types::f16_to_f32(types::f32_to_f16(value))));
            ASSERT_TRUE(std::isnan(types::bf16_to_f32(types::f32_to_bf16(value))));
            continue;
        }
        compare(f16, types::f32_to_f16, value);
        compare(bf16, types::f32_to_bf16, value);
        // Random exponents are seldom in f16's range.
        compare(f16, types::f32_to_f16, std::ldexp(value, -std::ilogb(value) + i % 45 - 27));
    }
}

TEST(Half, MidpointsAndTheirNeighboursRoundOnce) {
    for (int i = 0; i < 65535; ++i) {
        const auto code = static_cast<std::uint16_t>(i), next = static_cast<std::uint16_t>(i + 1);
        const auto around = [&](const Format& format, auto from_f32, auto from_f64) {
            if (!std::isfinite(format.decode(code)) || !std::isfinite(format.decode(next))) return;
            const double middle = (format.decode(code) + format.decode(next)) / 2;
            const auto single = static_cast<float>(middle);
            for (const float value : {single, std::nextafterf(single, 1e38f), std::nextafterf(single, -1e38f)}) {
                compare(format, from_f32, value);
            }
            // Neighbours that f32 cannot distinguish from the midpoint: double rounding would see a tie.
            for (const double value : {middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300)}) {
                compare(format, from_f64, value);
            }
        };
        ASSERT_NO_FATAL_FAILURE(around(f16, types::f32_to_f16, types::f64_to_f16));
        ASSERT_NO_FATAL_FAILURE(around(bf16, types::f32_to_bf16, types::f64_to_bf16));
    }
    for (const double value :
         {65519.99, 65520.0, 1e300, -1e300, 1e-300, -1e-300, 0.0, -0.0, HUGE_VAL, 3.4e38, 3.3961775e38}) {
        compare(f16, types::f64_to_f16, value);
        compare(bf16, types::f64_to_bf16, value);
    }
    EXPECT_TRUE(std::isnan(types::f16_to_f32(types::f64_to_f16(std::nan("")))));
}

}  // namespace
}  // namespace cairn
