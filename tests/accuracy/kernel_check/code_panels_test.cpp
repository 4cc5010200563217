#include "accuracy/kernel_check/code_panels.hpp"

#include "cairn/error.hpp"
#include "kernels/cpu/panel/code_format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

/// Tests of panels of codes: what is written is nearest, what is read is where the layout says.
namespace cairn::kernel_check {
namespace {

constexpr std::int64_t depth = 64, columns = 40;  // a panel and a part of one

class CodePanelsTest : public testing::TestWithParam<int> {
protected:
    const kernels::cpu::CodeLayout& layout() const {
        return kernels::cpu::code_layouts[static_cast<std::size_t>(GetParam())];
    }
    const kernels::cpu::CodeFormat& format() const { return layout().format; }
    std::vector<double> stored(const std::vector<double>& elements, bool is_transposed = false) {
        const CodePanels panels(is_transposed ? layout().transposed : layout().name, depth, columns);
        bytes.assign(panels.bytes(), std::byte{0});
        panels.write(elements, bytes.data());
        return panels.read(bytes.data());
    }
    /// The elements of column n in the group of step k.
    template <typename F>
    void for_each_group(F f) const {
        for (std::int64_t n = 0; n < columns; ++n)
            for (std::int64_t first = 0; first < depth; first += format().group) f(first, n);
    }
    std::vector<std::byte> bytes;
};

std::size_t at(std::int64_t k, std::int64_t n) { return static_cast<std::size_t>(k * columns + n); }

std::vector<double> waves() {
    std::vector<double> elements;
    for (std::int64_t i = 0; i < depth * columns; ++i)
        elements.push_back(std::sin(static_cast<double>(i) * 0.7) * std::pow(10, static_cast<double>(i % 5) - 2));
    return elements;
}

TEST_P(CodePanelsTest, TheNearestCodesAreWritten) {
    const std::vector<double> elements = waves(), found = stored(elements);
    EXPECT_EQ(bytes.size(), static_cast<std::size_t>(2 * depth * format().row_bytes()));
    for_each_group([&](std::int64_t first, std::int64_t n) {
        double low = 0, high = 0;
        for (std::int64_t k = first; k < first + format().group; ++k)
            low = std::min(low, elements[at(k, n)]), high = std::max(high, elements[at(k, n)]);
        // Scales in bf16 are powers of two here.
        const double least = (high - low) / ((1 << format().bits) - 2),
                     step = format().scales == DType::bf16 ? 2 * least : least;
        for (std::int64_t k = first; k < first + format().group; ++k)
            EXPECT_NEAR(found[at(k, n)], elements[at(k, n)], 1.3 * step) << k << " " << n;
    });
    EXPECT_EQ(stored(found), found);
}

// The positions that code_format.hpp states.
TEST_P(CodePanelsTest, PositionsAreThoseOfTheLayout) {
    const std::vector<double> found = stored(waves());
    const auto float_at = [&](const std::byte* from) {
        float value = 0;
        std::memcpy(&value, from, sizeof value);
        return value;
    };
    for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t n = 0; n < columns; ++n) {
            const std::byte* const group =
                bytes.data() + n / 32 * depth * format().row_bytes() + k / format().group * format().group_bytes();
            float scale = float_at(group + n % 32 * 4);
            std::uint16_t half = 0;
            std::memcpy(&half, group + n % 32 * 2, sizeof half);
            if (format().scales == DType::bf16) {
                scale = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
            } else if (format().scales == DType::f16) {
                const auto exponent = static_cast<int>(half >> 10 & 31);
                ASSERT_TRUE(exponent > 0 && exponent < 31);
                scale = std::ldexp(1 + static_cast<float>(half & 1023) / 1024, exponent - 15);
            }
            const std::int64_t in_word = 32 / format().bits, row = k % format().group / in_word;
            std::uint32_t word = 0;
            std::memcpy(&word, group + format().head_bytes() + (row * 32 + n % 32) * 4, sizeof word);
            // Even steps of k before odd ones.
            constexpr int of_8_bits[] = {0, 16, 8, 24}, of_4_bits[] = {0, 16, 4, 20, 8, 24, 12, 28};
            word >>= format().bits == 16 ? k % 2 * 16 : format().bits == 8 ? of_8_bits[k % 4] : of_4_bits[k % 8];
            const int lowest = format().is_signed ? -(1 << (format().bits - 1)) : 0, values = 1 << format().bits;
            const int code = (static_cast<int>(word % static_cast<unsigned>(values)) - lowest) % values + lowest;
            float value = scale * static_cast<float>(code);
            if (format().has_offsets) value += float_at(group + format().scale_bytes() + n % 32 * 4);
            EXPECT_EQ(found[at(k, n)], value) << k << " " << n;
        }
}

TEST_P(CodePanelsTest, ATransposedMatrixHasTheSameBytes) {
    const std::vector<double> elements = waves();
    std::vector<double> transposed(elements.size());
    for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t n = 0; n < columns; ++n)
            transposed[static_cast<std::size_t>(n * depth + k)] = elements[at(k, n)];
    const std::vector<double> found = stored(elements);
    const std::vector<std::byte> plain = bytes;
    const std::vector<double> found_transposed = stored(transposed, true);
    EXPECT_EQ(plain, bytes);
    EXPECT_EQ(found_transposed[3], found[at(3, 0)]);
}

TEST_P(CodePanelsTest, GroupsOfSpecialValues) {
    std::vector<double> elements(depth * columns, 0.0);
    elements[at(5, 1)] = std::nan("");
    elements[at(7, 2)] = -HUGE_VAL;
    for (std::int64_t k = 0; k < depth; ++k) elements[at(k, 3)] = 0.375;
    const std::vector<double> found = stored(elements);
    EXPECT_TRUE(std::isnan(found[at(0, 1)]));
    EXPECT_EQ(found[at(32, 1)], 0);
    EXPECT_EQ(found[at(7, 2)], -HUGE_VAL);
    EXPECT_EQ(found[at(8, 2)], -HUGE_VAL);
    EXPECT_NEAR(found[at(9, 3)], 0.375, 0.375 / 256);
    EXPECT_EQ(found[0], 0);
}

TEST_P(CodePanelsTest, FiniteElementsBesideOthersAreNotRepresentable) {
    const CodePanels panels(layout().name, depth, columns);
    const std::vector<double> elements(depth * columns, 1.0);
    std::vector<double> wanted(depth * columns, 2.0);
    EXPECT_EQ(panels.replace_unrepresentable(elements, wanted), elements);
    wanted[at(5, 1)] = HUGE_VAL;
    const std::vector<double> found = panels.replace_unrepresentable(elements, wanted);
    EXPECT_EQ(found[at(4, 1)], 2) << "of the same group";
    EXPECT_EQ(found[at(5, 1)], 1) << "not replaced, and so checked";
    EXPECT_EQ(found[at(4, 2)], 1) << "another column";
    EXPECT_EQ(found[at(5 + format().group, 1)], 1) << "another group";
}

TEST_P(CodePanelsTest, ADepthOfPartsOfAGroupIsRefused) { EXPECT_THROW(CodePanels(layout().name, 40, 8), Error); }

INSTANTIATE_TEST_SUITE_P(Layouts, CodePanelsTest,
                         testing::Range(0, static_cast<int>(kernels::cpu::code_layouts.size())), [](const auto& info) {
                             return std::string(kernels::cpu::code_layouts[static_cast<std::size_t>(info.param)].name);
                         });

}  // namespace
}  // namespace cairn::kernel_check
