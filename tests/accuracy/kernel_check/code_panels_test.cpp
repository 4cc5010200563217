#include "accuracy/kernel_check/code_panels.hpp"

#include "cairn/error.hpp"
#include "kernels/cpu/panel/layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

/// Tests of panels of codes: what is written is nearest, what is read is where the layout says.
namespace cairn::kernel_check {
namespace {

constexpr std::int64_t depth = 64, columns = 40;  // two groups, a panel and a part of one

std::vector<double> waves() {
    std::vector<double> elements;
    for (std::int64_t i = 0; i < depth * columns; ++i)
        elements.push_back(std::sin(static_cast<double>(i) * 0.7) * std::pow(10, static_cast<double>(i % 5) - 2));
    return elements;
}

std::vector<double> stored(const std::vector<double>& elements, std::vector<std::byte>& bytes,
                           bool is_transposed = false) {
    const CodePanels panels(depth, columns, is_transposed);
    bytes.assign(panels.bytes(), std::byte{0});
    panels.write(elements, bytes.data());
    return panels.read(bytes.data());
}

TEST(CodePanels, TheNearestCodesAreWritten) {
    std::vector<std::byte> bytes;
    const std::vector<double> elements = waves(), found = stored(elements, bytes);
    EXPECT_EQ(bytes.size(), static_cast<std::size_t>(2 * depth * kernels::cpu::q8_row_bytes));
    for (std::int64_t n = 0; n < columns; ++n)
        for (std::int64_t first = 0; first < depth; first += 32) {
            double largest = 0;
            for (std::int64_t k = first; k < first + 32; ++k)
                largest = std::max(largest, std::fabs(elements[static_cast<std::size_t>(k * columns + n)]));
            for (std::int64_t k = first; k < first + 32; ++k) {
                const auto i = static_cast<std::size_t>(k * columns + n);
                EXPECT_NEAR(found[i], elements[i], largest / 127 * 0.63) << k << " " << n;
            }
        }
    // What codes express is kept.
    EXPECT_EQ(stored(found, bytes), found);
}

// The positions that kernels/cpu/panel/layout.hpp states.
TEST(CodePanels, PositionsAreThoseOfTheLayout) {
    std::vector<std::byte> bytes;
    const std::vector<double> found = stored(waves(), bytes);
    for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t n = 0; n < columns; ++n) {
            const std::byte* const group = bytes.data() + (n / 32 * depth + k / 32 * 32) * kernels::cpu::q8_row_bytes;
            std::uint16_t scale = 0;
            std::memcpy(&scale, group + n % 32 * 2, sizeof scale);
            const auto exponent = static_cast<int>(scale >> 10 & 31);
            ASSERT_TRUE(exponent > 0 && exponent < 31);
            const double value = std::ldexp(1 + (scale & 1023) / 1024.0, exponent - 15);
            const auto code = static_cast<std::int8_t>(group[kernels::cpu::q8_scale_bytes + k % 32 * 32 + n % 32]);
            EXPECT_EQ(found[static_cast<std::size_t>(k * columns + n)], value * code) << k << " " << n;
        }
}

TEST(CodePanels, ATransposedMatrixHasTheSameBytes) {
    const std::vector<double> elements = waves();
    std::vector<double> transposed(elements.size());
    for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t n = 0; n < columns; ++n)
            transposed[static_cast<std::size_t>(n * depth + k)] = elements[static_cast<std::size_t>(k * columns + n)];
    std::vector<std::byte> plain, other;
    const std::vector<double> found = stored(elements, plain), found_transposed = stored(transposed, other, true);
    EXPECT_EQ(plain, other);
    EXPECT_EQ(found_transposed[3], found[3 * columns]);
}

TEST(CodePanels, GroupsOfSpecialValues) {
    std::vector<double> elements(depth * columns, 0.0);
    elements[5 * columns + 1] = std::nan("");
    elements[7 * columns + 2] = -HUGE_VAL;
    elements[40 * columns + 3] = 1e30;
    std::vector<std::byte> bytes;
    const std::vector<double> found = stored(elements, bytes);
    EXPECT_TRUE(std::isnan(found[0 * columns + 1]));
    EXPECT_EQ(found[32 * columns + 1], 0);
    EXPECT_EQ(found[7 * columns + 2], -HUGE_VAL);
    EXPECT_EQ(found[8 * columns + 2], HUGE_VAL);
    EXPECT_EQ(found[40 * columns + 3], 65504.0 * 127);
    EXPECT_EQ(found[0], 0);
}

TEST(CodePanels, ADepthOfPartsOfAGroupIsRefused) { EXPECT_THROW(CodePanels(40, 8, false), Error); }

}  // namespace
}  // namespace cairn::kernel_check
