#include "graph/types/convert_floats.hpp"

#include "graph/types/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace cairn::types {
namespace {

template <typename To, typename From>
std::vector<To> converted(DType to, DType from, const std::vector<From>& values) {
    std::vector<To> result(values.size());
    convert_floats(reinterpret_cast<std::byte*>(result.data()), to, reinterpret_cast<const std::byte*>(values.data()),
                   from, values.size());
    return result;
}

TEST(ConvertFloats, EveryHalfRoundTripsThroughWiderTypes) {
    std::vector<std::uint16_t> halves(1 << 16);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
    for (const DType half : {DType::f16, DType::bf16}) {
        const auto floats = converted<float>(DType::f32, half, halves);
        const auto doubles = converted<double>(DType::f64, half, halves);
        const auto back = converted<std::uint16_t>(half, DType::f32, floats);
        const auto far_back = converted<std::uint16_t>(half, DType::f64, doubles);
        for (std::size_t i = 0; i < halves.size(); ++i) {
            const float own = half == DType::f16 ? f16_to_f32(halves[i]) : bf16_to_f32(halves[i]);
            if (std::isnan(own)) {
                ASSERT_TRUE(std::isnan(floats[i]) && std::isnan(doubles[i])) << i;
                continue;
            }
            ASSERT_EQ(floats[i], own) << i;
            ASSERT_EQ(doubles[i], static_cast<double>(own)) << i;
            ASSERT_EQ(back[i], halves[i]);
            ASSERT_EQ(far_back[i], halves[i]);
        }
    }
}

TEST(ConvertFloats, RoundsOnceToNearest) {
    std::mt19937_64 random(3);
    std::vector<double> values{0.0, -0.0, 65519.0, 65520.0, -1e300, 1e-30, std::numeric_limits<double>::infinity()};
    for (int i = 0; i < 10'000; ++i) {
        const double value = std::bit_cast<double>((random() & 0x800fffffffffffff) | (1023 + random() % 40 - 20) << 52);
        values.push_back(value);
    }
    const auto f16 = converted<std::uint16_t>(DType::f16, DType::f64, values);
    const auto bf16 = converted<std::uint16_t>(DType::bf16, DType::f64, values);
    const auto f32 = converted<float>(DType::f32, DType::f64, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(f16[i], f64_to_f16(values[i])) << values[i];
        EXPECT_EQ(bf16[i], f64_to_bf16(values[i])) << values[i];
        EXPECT_EQ(f32[i], static_cast<float>(values[i])) << values[i];
    }
    EXPECT_EQ(f16[2], 0x7bff);
    EXPECT_EQ(f16[3], 0x7c00) << "beyond the largest";
}

TEST(ConvertFloats, RefusesIntegers) {
    const std::vector<std::int32_t> integers(1);
    std::vector<float> floats(1);
    EXPECT_THROW(converted<float>(DType::f32, DType::i32, integers), InternalError);
    EXPECT_THROW(converted<std::int32_t>(DType::i32, DType::f32, floats), InternalError);
    EXPECT_TRUE(converted<float>(DType::f32, DType::f16, std::vector<std::uint16_t>()).empty());
}

}  // namespace
}  // namespace cairn::types
