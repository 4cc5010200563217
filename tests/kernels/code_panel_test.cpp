#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/table.hpp"
#include "tests/kernels/emulated_levels.hpp"
#include "tests/kernels/kernel_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

/// Products with panels of codes (panel32k4_q8): exact sums at every number of rows, and numbers at the ends of the
/// range.
namespace cairn::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A matrix [K, N] in codes, as blocks of a file: q8_0 of its rows' transposed.
struct CodedMatrix {
    std::int64_t depth, columns;
    std::vector<std::uint8_t> blocks = std::vector<std::uint8_t>(static_cast<std::size_t>(columns * depth / 32 * 34));

    std::uint8_t* block(std::int64_t k, std::int64_t n) {
        return blocks.data() + static_cast<std::size_t>((n * (depth / 32) + k / 32) * 34);
    }
    void set_scale(std::int64_t k, std::int64_t n, std::uint16_t f16_bits) {
        std::memcpy(block(k, n), &f16_bits, sizeof f16_bits);
    }
    void set_code(std::int64_t k, std::int64_t n, int code) {
        block(k, n)[2 + k % 32] = static_cast<std::uint8_t>(code);
    }
    std::vector<std::byte> panels() {
        std::vector<std::byte> made(static_cast<std::size_t>((columns + 31) / 32 * depth * 34), std::byte{0x55});
        std::vector<Kernel> list;
        kernels::cpu::add_panel_dequantize(list);
        const std::string n = std::to_string(columns), b = std::to_string(depth / 32), k = std::to_string(depth);
        EXPECT_EQ(
            run(list.at(0), "dequantize_q8_0 | u8[" + n + "," + b + ",34]! -> f32[" + n + "," + k + "]@panel32k4_q8.t",
                {blocks.data()}, made.data()),
            nullptr);
        return made;
    }
};

constexpr std::uint16_t one = 0x3c00, quarter = 0x3400, f16_infinity = 0x7c00, f16_nan = 0x7e00;

/// A kernel for matmul, and what its rows of x are read as.
struct Product {
    std::string name;
    Kernel kernel;
    float largest;  ///< of a group whose scale is a power of two, so that integers hold small ones exactly; 0: floats
};

/// The kernels that this machine can run, at all levels.
const std::vector<Product>& products() {
    static const std::vector<Product> all = [] {
        std::vector<Product> made;
        const auto add = [&](const std::string& level, const std::vector<Kernel>& kernels, float largest) {
            for (const Kernel& kernel : kernels) {
                if (kernel.definition != "matmul") continue;
                const bool is_of_bytes = kernel.id.find("panel_i8") != std::string::npos;
                made.push_back({kernel.id + " at " + level, kernel, is_of_bytes ? 127 / 16.0F : largest});
            }
        };
        for (const Level& level : runnable_levels()) {
            std::vector<Kernel> floats, integers;
            kernels::cpu::add_panel_linear(floats, level.needs, level.table->panel);
            kernels::cpu::add_panel_integer_linear(integers, level.needs, level.table->panel);
            add(level.name, floats, 0);
            add(level.name, integers, 32767 / 64.0F);
        }
        for (const ProductLevel& level : runnable_product_levels())
            if (level.needs == levels::avx512_vnni) add(level.name, level.kernels, (127 * 256 + 127) / 64.0F);
        return made;
    }();
    return all;
}

std::vector<float> product(const Product& of, std::vector<float> x, std::int64_t rows, CodedMatrix& w) {
    std::vector<std::byte> panels = w.panels();
    std::vector<float> made(static_cast<std::size_t>(rows * w.columns), -1);
    const std::string m = std::to_string(rows), k = std::to_string(w.depth), n = std::to_string(w.columns);
    EXPECT_EQ(
        run(of.kernel,
            "matmul | f32[" + m + "," + k + "] f32[" + k + "," + n + "]@panel32k4_q8! -> f32[" + m + "," + n + "]",
            {x.data(), panels.data()}, made.data()),
        nullptr)
        << of.name;
    return made;
}

TEST(CodePanel, SumsOfIntegersAreExactAtEveryNumberOfRows) {
    for (const auto& [depth, columns] :
         {std::pair<std::int64_t, std::int64_t>(32, 1), {64, 33}, {96, 290}, {1120, 70}}) {
        CodedMatrix w{depth, columns};
        for (std::int64_t n = 0; n < columns; ++n)
            for (std::int64_t k = 0; k < depth; ++k) {
                w.set_scale(k, n, (n + k / 32) % 3 == 0 ? quarter : one);
                w.set_code(k, n, k % 50 == 0 ? -128 : static_cast<int>((k * 31 + n * 17) % 255) - 127);
                if (k % 32 == 5) w.set_code(k, n, 0);
            }
        for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 12, 13, 14, 15, 16, 40, 200}) {
            std::vector<float> x(static_cast<std::size_t>(rows * depth)), wanted;
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 15) - 7;
            for (std::int64_t m = 0; m < rows; ++m)
                for (std::int64_t n = 0; n < columns; ++n) {
                    double sum = 0;
                    for (std::int64_t k = 0; k < depth; ++k)
                        sum += x[static_cast<std::size_t>(m * depth + k)] * ((n + k / 32) % 3 == 0 ? 0.25 : 1) *
                               static_cast<std::int8_t>(w.block(k, n)[2 + k % 32]);
                    wanted.push_back(static_cast<float>(sum));
                }
            for (const Product& each : products()) {
                // Multiplied by codes of 0.
                for (std::size_t i = 5; i < x.size(); i += 32) x[i] = each.largest;
                EXPECT_EQ(product(each, x, rows, w), wanted) << depth << " " << columns << " " << rows << each.name;
            }
        }
    }
}

// Sums with elements that integers cannot hold are computed from the elements.
TEST(CodePanel, RowsThatCannotBeQuantizedAreMultipliedAsFloats) {
    constexpr std::int64_t depth = 96, columns = 70;
    CodedMatrix w{depth, columns};
    for (std::int64_t n = 0; n < columns; ++n)
        for (std::int64_t k = 0; k < depth; ++k)
            w.set_scale(k, n, one), w.set_code(k, n, static_cast<int>((n * 5 + k * 3) % 255) - 127);
    for (const float special : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0x1p-110F}) {
        for (const std::int64_t rows : {1, 3, 10, 30}) {
            std::vector<float> x(static_cast<std::size_t>(rows * depth));
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<float>(i * 13 % 29) / 7;
            for (std::size_t i = 32; i < 64; ++i) x[i] = std::isfinite(special) ? special : x[i];
            x[40] = special;
            const std::vector<float> wanted = product(products().front(), x, rows, w);
            for (const Product& each : products()) {
                if (each.largest == 0) continue;
                const std::vector<float> got = product(each, x, rows, w);
                for (std::size_t i = 0; i < columns; ++i) {
                    if (std::isfinite(wanted[i]))
                        EXPECT_NEAR(got[i], wanted[i], 1e-6F * std::fabs(wanted[i]) + 1e-3F)
                            << special << " " << rows << each.name;
                    else
                        EXPECT_TRUE(got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i])))
                            << got[i] << " " << wanted[i] << " " << special << " " << rows << each.name;
                }
                for (const float y : std::span(got).subspan(columns)) EXPECT_TRUE(std::isfinite(y)) << each.name;
            }
        }
    }
}

TEST(CodePanel, QuantizedRowsOfZerosAreZero) {
    CodedMatrix w{64, 40};
    for (std::int64_t k = 0; k < 64; ++k) w.set_scale(k, 3, one), w.set_code(k, 3, 100);
    std::vector<float> x(2 * 64);
    x[70] = 2;
    for (const Product& each : products()) {
        const std::vector<float> y = product(each, x, 2, w);
        for (std::size_t n = 0; n < y.size(); ++n) EXPECT_NEAR(y[n], n == 43 ? 200 : 0, 1e-3) << each.name;
    }
}

// A sum of x times codes is beyond f32 where the sum of x times weights is not; then the others keep their bits.
TEST(CodePanel, LargeNumbersDoNotOverflowBeforeTheyAreScaled) {
    constexpr std::int64_t depth = 64, columns = 70;
    CodedMatrix w{depth, columns};
    for (std::int64_t n = 0; n < columns; ++n)
        for (std::int64_t k = 0; k < depth; ++k)
            w.set_scale(k, n, 0x1001), w.set_code(k, n, static_cast<int>((n * 5 + k * 3) % 120) + 1);
    for (const std::int64_t rows : {1, 2, 4, 9, 14, 20}) {
        std::vector<float> x(static_cast<std::size_t>(rows * depth));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<float>(i * 13 % 29) / 8;
        for (const Product& each : products()) {
            const std::vector<float> before = product(each, x, rows, w);
            std::vector<float> large = x;
            for (std::size_t k = 0; k < depth; ++k) large[k] = 2e37f;
            const std::vector<float> after = product(each, large, rows, w);
            for (std::size_t n = 0; n < columns; ++n) {
                double sum = 0;
                for (std::int64_t k = 0; k < depth; ++k)
                    sum += 2e37 * 0x1.004p-11 * w.block(k, static_cast<std::int64_t>(n))[2 + k % 32];
                EXPECT_NEAR(after[n] / sum, 1, 1e-5) << n << " of " << rows << " in " << each.name;
            }
            EXPECT_TRUE(std::equal(before.begin() + columns, before.end(), after.begin() + columns)) << each.name;
        }
    }
}

TEST(CodePanel, ScalesThatAreNotFiniteGiveWhatTheirWeightsDo) {
    constexpr std::int64_t depth = 96, columns = 40;
    CodedMatrix w{depth, columns};
    for (std::int64_t n = 0; n < columns; ++n)
        for (std::int64_t k = 0; k < depth; ++k) w.set_scale(k, n, one), w.set_code(k, n, 1 + static_cast<int>(k % 5));
    w.set_scale(40, 3, f16_infinity);  // of the second group: all of its weights are infinite
    w.set_scale(40, 4, f16_infinity);
    w.set_code(45, 4, -1);  // and one of the other sign
    w.set_scale(40, 5, f16_infinity);
    w.set_code(45, 5, 0);  // 0 times infinity
    w.set_scale(70, 39, f16_nan);
    for (const std::int64_t rows : {1, 3, 14, 30}) {
        const std::vector<float> x(static_cast<std::size_t>(rows * depth), 2);
        for (const Product& each : products()) {
            const std::vector<float> y = product(each, x, rows, w);
            for (std::size_t row = 0; row < y.size(); row += columns) {
                EXPECT_EQ(y[row + 3], infinity) << rows << " in " << each.name;
                for (const std::size_t n : {4u, 5u, 39u}) EXPECT_TRUE(std::isnan(y[row + n])) << n << each.name;
                EXPECT_EQ(y[row + 2], y[row + 6]);
                EXPECT_TRUE(std::isfinite(y[row + 6]));
            }
        }
    }
}

}  // namespace
}  // namespace cairn::test
