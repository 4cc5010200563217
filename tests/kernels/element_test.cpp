#include "kernels/cpu/reference/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace cairn::kernels::cpu::reference {
namespace {

std::uint16_t stored16(double value, DType dtype) {
    ElementBlock block;
    block.real[0] = value;
    std::uint16_t bits = 0;
    store(block, reinterpret_cast<std::byte*>(&bits), 0, 1, 1, dtype);
    return bits;
}

double loaded16(std::uint16_t bits, DType dtype) {
    ElementBlock block;
    load(block, reinterpret_cast<const std::byte*>(&bits), 0, 1, 1, dtype);
    return block.real[0];
}

TEST(Element, Every16BitFloatRoundTripsThroughDouble) {
    for (const DType dtype : {DType::f16, DType::bf16})
        for (std::uint32_t bits = 0; bits < 65536; ++bits) {
            const double value = loaded16(static_cast<std::uint16_t>(bits), dtype);
            if (std::isnan(value))
                ASSERT_TRUE(std::isnan(loaded16(stored16(value, dtype), dtype)));
            else
                ASSERT_EQ(stored16(value, dtype), bits) << to_string(dtype);
        }
}

TEST(Element, HalfwayValuesRoundToEven) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
        const std::uint32_t infinity = dtype == DType::f16 ? 0x7c00 : 0x7f80;
        for (std::uint32_t bits = 0; bits + 1 < infinity; ++bits) {
            const double low = loaded16(static_cast<std::uint16_t>(bits), dtype),
                         high = loaded16(static_cast<std::uint16_t>(bits + 1), dtype);
            const double middle = low + (high - low) / 2;
            ASSERT_EQ(stored16(middle, dtype), bits % 2 == 0 ? bits : bits + 1) << to_string(dtype) << " " << low;
            ASSERT_EQ(stored16(std::nextafter(middle, low), dtype), bits);
            ASSERT_EQ(stored16(std::nextafter(middle, high), dtype), bits + 1);
        }
    }
    EXPECT_EQ(stored16(65519.9, DType::f16), 0x7bff);
    EXPECT_EQ(stored16(65520, DType::f16), 0x7c00);
    EXPECT_EQ(stored16(-1e300, DType::f16), 0xfc00);
    EXPECT_EQ(stored16(-0.0, DType::bf16), 0x8000);
}

TEST(Element, ConversionToIntegersTruncatesAndSaturates) {
    const auto whole = [](double x, DType to) {
        ElementBlock block;
        block.real[0] = x;
        convert(block, 1, DType::f64, to);
        return block.whole[0];
    };
    EXPECT_EQ(whole(-3.9, DType::i32), -3);
    EXPECT_EQ(whole(3e9, DType::i32), std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(whole(-1e30, DType::i64), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(whole(INFINITY, DType::i64), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(whole(300, DType::u8), 255);
    EXPECT_EQ(whole(-1, DType::u8), 0);
    EXPECT_EQ(whole(NAN, DType::i8), 0);
    EXPECT_EQ(whole(NAN, DType::boolean), 1);
    EXPECT_EQ(whole(-0.0, DType::boolean), 0);
}

TEST(Element, LargeIntegersAreRoundedOnce) {
    const auto real = [](std::int64_t x, DType to) {
        ElementBlock block;
        block.whole[0] = x;
        convert(block, 1, DType::i64, to);
        return block.real[0];
    };
    const std::int64_t half = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);  // between two bf16
    EXPECT_EQ(real(half, DType::bf16), 0x1p62);
    EXPECT_EQ(real(half + 1, DType::bf16), 0x1.02p62);
    EXPECT_EQ(real(-half - 1, DType::bf16), -0x1.02p62);
    EXPECT_EQ(real(half + 1, DType::f64), 0x1.01p62);
}

TEST(Element, ArithmeticWraps) {
    EXPECT_EQ(wrap(128, DType::i8), -128);
    EXPECT_EQ(wrap(-1, DType::u8), 255);
    EXPECT_EQ(wrap((std::int64_t{1} << 31) + 5, DType::i32), -(std::int64_t{1} << 31) + 5);
    EXPECT_EQ(wrap(2, DType::boolean), 1);
}

TEST(Element, CopiesBetweenShapesAndStridesInAnyParts) {
    std::vector<std::int32_t> source(60);
    std::iota(source.begin(), source.end(), 0);
    const std::int64_t from_shape[] = {3, 4, 5}, from_strides[] = {5, 15, 1}, to_shape[] = {6, 10},
                       to_strides[] = {1, 6};
    const StridedView from{reinterpret_cast<std::byte*>(source.data()), from_shape, from_strides, 3};
    for (const std::int64_t cut : {0, 1, 7, 30, 60}) {
        std::vector<std::int32_t> target(60, -1);
        const StridedView to{reinterpret_cast<std::byte*>(target.data()), to_shape, to_strides, 2};
        move_elements(to, from, 4, {0, cut});
        move_elements(to, from, 4, {cut, 60});
        for (std::int64_t i = 0; i < 60; ++i)
            ASSERT_EQ(target[static_cast<std::size_t>(i / 10 + i % 10 * 6)],
                      source[static_cast<std::size_t>(i / 20 * 5 + i / 5 % 4 * 15 + i % 5)])
                << i;
    }
}

TEST(Element, SharesCoverEveryElementOnce) {
    for (const std::int64_t count : {0, 1, 2, 7, 100})
        for (int size = 1; size <= 5; ++size) {
            std::int64_t next = 0;
            for (int rank = 0; rank < size; ++rank) {
                const Range range = share(count, rank, size);
                EXPECT_EQ(range.begin, next);
                next = range.end;
            }
            EXPECT_EQ(next, count);
        }
}

}  // namespace
}  // namespace cairn::kernels::cpu::reference
