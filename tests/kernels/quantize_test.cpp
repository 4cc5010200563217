#include "kernels/cpu/panel/layout.hpp"
#include "tests/driver/relative_distance.hpp"
#include "tests/kernels/kernel_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

/// Tests of `pack` kernels that quantize: each code is the nearest one, scales have the range of floats, and errors are
/// within what is stated.
namespace cairn::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Quantizer {
    std::string layout;
    int bits;
    double error;
};
const Quantizer quantizers[] = {{"panel32k2_q16b", 16, 0x1p-14}, {"panel32k4_q8b", 8, 0x1p-6}};

class QuantizeTest : public testing::TestWithParam<int> {
protected:
    const Quantizer& quantizer() const { return quantizers[GetParam()]; }
    Kernel kernel() const {
        std::vector<Kernel> all;
        kernels::cpu::add_panel_quantize(all);
        for (Kernel& each : all) {
            const auto symbols = Symbols::create();
            if (each.accepts(parse_problem("pack | f32[32,1] -> f32[32,1]@" + quantizer().layout, *symbols)).empty())
                return each;
        }
        throw std::runtime_error("no kernel for " + quantizer().layout);
    }
    /// The elements of a matrix [K, N] after it was quantized, given row-major.
    std::vector<float> quantized(std::vector<float> matrix, std::int64_t depth, std::int64_t columns) const {
        const std::int64_t panels = (columns + 31) / 32;
        std::vector<std::byte> made(static_cast<std::size_t>(panels * depth * format().row_bytes()), std::byte{0x5a});
        const std::string text = "f32[" + std::to_string(depth) + "," + std::to_string(columns) + "]";
        EXPECT_EQ(
            run(kernel(), "pack | " + text + " -> " + text + "@" + quantizer().layout, {matrix.data()}, made.data()),
            nullptr);
        std::vector<float> elements;
        for (std::int64_t k = 0; k < depth; ++k)
            for (std::int64_t n = 0; n < columns; ++n) elements.push_back(column(made, depth, k, n).element(k % 32));
        for (std::int64_t k = 0; k < depth; ++k)
            for (std::int64_t n = columns; n < panels * 32; ++n)
                EXPECT_EQ(column(made, depth, k, n).element(k % 32), 0) << "columns behind the last";
        return elements;
    }
    const kernels::cpu::CodeFormat& format() const { return kernels::cpu::format_of(quantizer().layout); }
    kernels::cpu::CodeColumn column(const std::vector<std::byte>& panels, std::int64_t depth, std::int64_t k,
                                    std::int64_t n) const {
        return {format(), panels.data() + n / 32 * depth * format().row_bytes() + k / 32 * format().group_bytes(),
                n % 32};
    }
    /// The largest code.
    double most() const { return (1 << (quantizer().bits - 1)) - 1; }
};

std::vector<float> normal(std::size_t count, unsigned seed, float scale = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<float> elements(0, scale);
    std::vector<float> made(count);
    for (float& element : made) element = elements(random);
    return made;
}

TEST_P(QuantizeTest, EachElementIsWithinHalfOfAStep) {
    for (const auto& [depth, columns] : {std::pair<std::int64_t, std::int64_t>(32, 1), {64, 33}, {160, 70}}) {
        const std::vector<float> matrix = normal(static_cast<std::size_t>(depth * columns), 5),
                                 found = quantized(matrix, depth, columns);
        for (std::int64_t n = 0; n < columns; ++n)
            for (std::int64_t first = 0; first < depth; first += 32) {
                float largest = 0;
                for (std::int64_t k = first; k < first + 32; ++k)
                    largest = std::max(largest, std::fabs(matrix[static_cast<std::size_t>(k * columns + n)]));
                // Scales have 8 bits and are rounded up.
                const double step = largest / most() * (1 + 0x1p-7);
                for (std::int64_t k = first; k < first + 32; ++k) {
                    const auto at = static_cast<std::size_t>(k * columns + n);
                    EXPECT_NEAR(found[at], matrix[at], 0.5001 * step) << k << " " << n;
                }
            }
    }
}

TEST_P(QuantizeTest, ErrorsAreWithinWhatIsStated) {
    const auto symbols = Symbols::create();
    const double stated =
        kernel().error(parse_problem("pack | f32[64,40] -> f32[64,40]@" + quantizer().layout, *symbols));
    EXPECT_EQ(stated, quantizer().error);
    for (const float scale : {1e-30F, 1e-6F, 1.0F, 1e6F, 1e30F}) {
        const std::vector<float> matrix = normal(64 * 40, 3, scale);
        const double error = relative_distance(quantized(matrix, 64, 40), matrix);
        EXPECT_LT(error, stated / 2) << scale;
        EXPECT_GT(error, stated / 16) << "the statement is not far above what is normal";
    }
    // The largest error: one element of each group is far larger than the others.
    std::vector<float> matrix = normal(64 * 40, 4);
    for (std::size_t n = 0; n < 80; ++n) matrix[n / 40 * 32 * 40 + n % 40] = 150;
    EXPECT_LT(relative_distance(quantized(matrix, 64, 40), matrix), stated);
}

TEST_P(QuantizeTest, MultiplesOfAPowerOfTwoAreKept) {
    std::vector<float> matrix;
    for (int i = 0; i < 64 * 33; ++i) matrix.push_back(static_cast<float>(i * 31 % 255 - 127) * 0x1p-9F);
    for (std::size_t n = 0; n < 66; ++n)
        matrix[n / 33 * 32 * 33 + n % 33] = static_cast<float>(most()) * (n % 2 == 0 ? 0x1p-9F : -0x1p-9F);
    EXPECT_EQ(quantized(matrix, 64, 33), matrix);
}

TEST_P(QuantizeTest, ZerosAndNumbersAtTheEndsOfTheRange) {
    EXPECT_EQ(quantized(std::vector<float>(32 * 3, 0), 32, 3), std::vector<float>(32 * 3, 0));
    EXPECT_EQ(quantized(std::vector<float>(32 * 3, -0.0F), 32, 3), std::vector<float>(32 * 3, 0));
    const float largest = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
    std::vector<float> matrix(32 * 3, 0);
    matrix[0] = largest, matrix[3] = -largest, matrix[1] = tiny, matrix[2] = 0x1p-100F;
    const std::vector<float> found = quantized(matrix, 32, 3);
    EXPECT_NEAR(found[0] / largest, 1, 1.01 / most()) << "the code is not rounded up to an infinite product";
    EXPECT_NEAR(found[3] / largest, -1, 1.01 / most());
    EXPECT_LT(found[1], 0x1p-120F);
    EXPECT_NEAR(found[2] / 0x1p-100F, 1, 0.5 / most());
}

TEST_P(QuantizeTest, AGroupWithAnElementThatIsNotFiniteIsNaN) {
    for (const float special : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()})
        for (const std::size_t k : {0U, 13U, 31U}) {
            std::vector<float> matrix = normal(64 * 2, 6);
            matrix[2 * k] = special;
            const std::vector<float> found = quantized(matrix, 64, 2);
            for (std::size_t i = 0; i < 64; ++i) {
                EXPECT_EQ(std::isnan(found[2 * i]), i < 32) << special << " at " << k << ", " << i;
                EXPECT_FALSE(std::isnan(found[2 * i + 1]));
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Layouts, QuantizeTest, testing::Range(0, static_cast<int>(std::size(quantizers))),
                         [](const auto& test) { return quantizers[test.param].layout; });

}  // namespace
}  // namespace cairn::test
