#include "apps/cli/seeded_elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace cairn::cli {
namespace {

template <typename T>
std::vector<T> elements_of(const std::vector<std::byte>& bytes) {
    std::vector<T> elements(bytes.size() / sizeof(T));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
}

TEST(SeededElements, AreDeterminedBySeedAndName) {
    const auto made = [](std::uint64_t seed, const char* name) { return seeded_elements(seed, name, 100, {}); };
    EXPECT_EQ(made(1, "x"), made(1, "x"));
    EXPECT_NE(made(1, "x"), made(2, "x"));
    EXPECT_NE(made(1, "x"), made(1, "y"));
}

TEST(SeededElements, FloatsFillTheirRange) {
    const auto floats = elements_of<float>(seeded_elements(0, "x", 10000, {DType::f32, 0.5}));
    const auto [low, high] = std::minmax_element(floats.begin(), floats.end());
    EXPECT_GE(*low, -0.5f);
    EXPECT_LE(*high, 0.5f);
    EXPECT_LT(*low, -0.49f);
    EXPECT_GT(*high, 0.49f);
    const auto doubles = elements_of<double>(seeded_elements(0, "x", 10000, {DType::f64, 0.5}));
    for (std::size_t i = 0; i < floats.size(); ++i) EXPECT_EQ(floats[i], static_cast<float>(doubles[i]));
}

TEST(SeededElements, IntegersAreBelowTheirLimit) {
    for (const std::int64_t limit : {1, 5, 100}) {
        const auto wide = elements_of<std::int64_t>(seeded_elements(3, "ids", 3000, {DType::i64, 1, limit}));
        const std::set<std::int64_t> seen(wide.begin(), wide.end());
        EXPECT_EQ(*seen.begin(), 0);
        EXPECT_EQ(*seen.rbegin(), limit - 1);
        const auto narrow = elements_of<std::int32_t>(seeded_elements(3, "ids", 3000, {DType::i32, 1, limit}));
        EXPECT_TRUE(std::equal(wide.begin(), wide.end(), narrow.begin(), narrow.end()));
    }
    const auto bytes = elements_of<std::int8_t>(seeded_elements(3, "ids", 3000, {DType::i8, 1, 1000}));
    EXPECT_GE(*std::min_element(bytes.begin(), bytes.end()), 0);
    const auto booleans = elements_of<std::uint8_t>(seeded_elements(3, "mask", 100, {DType::boolean}));
    EXPECT_EQ(std::set<std::uint8_t>(booleans.begin(), booleans.end()), (std::set<std::uint8_t>{0, 1}));
}

TEST(SeededElements, HalvesAreRoundedTowardsZero) {
    EXPECT_EQ(f16_bits(1.0f), 0x3c00);
    EXPECT_EQ(f16_bits(-2.0f), 0xc000);
    EXPECT_EQ(f16_bits(0.333251953125f), 0x3555);
    EXPECT_EQ(f16_bits(1.0f / 3), 0x3555);
    EXPECT_EQ(f16_bits(0x1p-14f), 0x0400);
    EXPECT_EQ(f16_bits(0x1p-15f), 0);
    EXPECT_EQ(f16_bits(0.0f), 0);
    const auto halves = elements_of<std::uint16_t>(seeded_elements(0, "x", 1000, {DType::f16}));
    const auto floats = elements_of<float>(seeded_elements(0, "x", 1000, {DType::f32}));
    for (std::size_t i = 0; i < halves.size(); ++i) EXPECT_EQ(halves[i], f16_bits(floats[i]));
    const auto brief = elements_of<std::uint16_t>(seeded_elements(0, "x", 1000, {DType::bf16}));
    for (std::size_t i = 0; i < brief.size(); ++i) {
        const std::uint32_t bits = static_cast<std::uint32_t>(brief[i]) << 16;
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        EXPECT_LE(std::abs(value - floats[i]), std::abs(floats[i]) / 128);
    }
}

}  // namespace
}  // namespace cairn::cli
