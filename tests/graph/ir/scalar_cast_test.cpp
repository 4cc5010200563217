#include "graph/ir/scalar_cast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/types/half.hpp"

namespace cairn::ir {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(ScalarCast, RoundsToFloatsLikeTheCpu) {
    std::uint64_t bits = 1;
    for (int i = 0; i < 200000; ++i) {
        bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
        // Exponents around the range of f32 and of f16.
        const double value =
            std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), static_cast<int>(bits >> 32U) % 160 - 63);
        ASSERT_EQ(round_to(DType::f32, value), static_cast<double>(static_cast<float>(value))) << value;
        const double small =
            std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), static_cast<int>(bits >> 40U) % 48 - 90);
        ASSERT_EQ(round_to(DType::f16, small), types::f16_to_f32(types::f64_to_f16(small))) << small;
        ASSERT_EQ(round_to(DType::bf16, value), types::bf16_to_f32(types::f64_to_bf16(value))) << value;
    }
}

TEST(ScalarCast, RoundsAtTheLimitsOfTheRange) {
    EXPECT_EQ(round_to(DType::f16, 65519), 65504);
    EXPECT_EQ(round_to(DType::f16, 65520), inf);
    EXPECT_EQ(round_to(DType::f16, -65520), -inf);
    EXPECT_EQ(round_to(DType::f16, 0x1p-25), 0);
    EXPECT_EQ(round_to(DType::f16, 0x1.8p-25), 0x1p-24);
    EXPECT_EQ(round_to(DType::bf16, 0x1p-133), 0x1p-133);
    EXPECT_EQ(round_to(DType::f32, -1e300), -inf);
    EXPECT_TRUE(std::signbit(round_to(DType::f32, -0.0)));
    EXPECT_FALSE(std::signbit(round_to(DType::f64, -std::nan(""))));
    EXPECT_EQ(round_to(DType::f64, 0.1), 0.1);
}

TEST(ScalarCast, TruncatesAndSaturatesToIntegers) {
    EXPECT_EQ(truncate_to(DType::i32, -1.9), -1);
    EXPECT_EQ(truncate_to(DType::i32, 3e9), 2147483647);
    EXPECT_EQ(truncate_to(DType::u8, -1), 0);
    EXPECT_EQ(truncate_to(DType::i64, inf), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(truncate_to(DType::i64, -inf), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(truncate_to(DType::i8, std::nan("")), 0);
    EXPECT_EQ(truncate_to(DType::boolean, 0.25), 1);
    EXPECT_EQ(saturate_to(DType::i8, 1000), 127);
    EXPECT_EQ(saturate_to(DType::boolean, -7), 1);
    EXPECT_EQ(round_integer(DType::f32, (std::int64_t{1} << 54) + (std::int64_t{1} << 30) + 1), 0x1p54 + 0x1p31);
}

TEST(ScalarCast, RoundsLargeIntegersOnce) {
    const std::int64_t half = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);  // between two bf16
    EXPECT_EQ(round_integer(DType::bf16, half), 0x1p62);
    EXPECT_EQ(round_integer(DType::bf16, half + 1), 0x1.02p62);
    EXPECT_EQ(round_integer(DType::bf16, -half - 1), -0x1.02p62);
    EXPECT_EQ(round_integer(DType::f32, (std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1), 0x1.000002p62);
    EXPECT_EQ(round_integer(DType::bf16, std::numeric_limits<std::int64_t>::min()), -0x1p63);
    EXPECT_EQ(round_integer(DType::f64, (std::int64_t{1} << 53) + 1), 0x1p53);
}

TEST(ScalarCast, Wraps) {
    EXPECT_EQ(wrap_to(DType::i8, 128), -128);
    EXPECT_EQ(wrap_to(DType::u8, -1), 255);
    EXPECT_EQ(wrap_to(DType::i32, std::int64_t{1} << 31), -2147483648LL);
    EXPECT_EQ(wrap_to(DType::i64, -5), -5);
    EXPECT_EQ(wrap_to(DType::boolean, 2), 1);
}

TEST(ScalarCast, DetectsRepresentableValues) {
    EXPECT_TRUE(can_hold(DType::f16, 1e30));
    EXPECT_TRUE(can_hold(DType::i8, -128));
    EXPECT_FALSE(can_hold(DType::i8, 128));
    EXPECT_FALSE(can_hold(DType::i32, 0.5));
    EXPECT_FALSE(can_hold(DType::i32, std::nan("")));
    EXPECT_FALSE(can_hold(DType::i64, 0x1p63));
    EXPECT_TRUE(can_hold(DType::i64, -0x1p63));
    EXPECT_TRUE(can_hold(DType::boolean, 1));
    EXPECT_FALSE(can_hold(DType::boolean, 2));
}

}  // namespace
}  // namespace cairn::ir
