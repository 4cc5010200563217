#include "tests/kernels/emulated_levels.hpp"
#include "tests/kernels/kernel_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

/// Products in bf16 parts (panel_bf16x6 and its less exact forms): no bit of a float is lost, whatever the number of
/// rows, and numbers that parts cannot hold are multiplied as floats.
namespace cairn::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The kernels for matmul that this machine can run; `kind` is `bf16x6`, `bf16x3` or `bf16`.
std::vector<Kernel> products(const std::string& kind) {
    std::vector<Kernel> found;
    for (const ProductLevel& level : runnable_product_levels())
        for (const Kernel& kernel : level.kernels)
            if (kernel.id.find("panel_" + kind + "_") != std::string::npos && kernel.definition == "matmul")
                found.push_back(kernel);
    return found;
}

/// Matrices x [M, K] and w [K, N] of floats.
struct Matrices {
    std::int64_t rows, depth, columns;
    std::vector<float> x = std::vector<float>(static_cast<std::size_t>(rows * depth));
    std::vector<float> w = std::vector<float>(static_cast<std::size_t>(depth * columns));

    float& left(std::int64_t m, std::int64_t k) { return x[static_cast<std::size_t>(m * depth + k)]; }
    float& right(std::int64_t k, std::int64_t n) { return w[static_cast<std::size_t>(k * columns + n)]; }
    std::vector<float> panels() {
        std::vector<float> made(static_cast<std::size_t>((columns + 31) / 32 * 32 * depth));
        for (std::int64_t n = 0; n < columns; ++n)
            for (std::int64_t k = 0; k < depth; ++k)
                made[static_cast<std::size_t>(n / 32 * depth * 32 + k * 32 + n % 32)] = right(k, n);
        return made;
    }
    std::vector<float> product(const Kernel& kernel) {
        std::vector<float> packed = panels(), made(static_cast<std::size_t>(rows * columns), -1);
        const std::string m = std::to_string(rows), k = std::to_string(depth), n = std::to_string(columns);
        EXPECT_EQ(run(kernel,
                      "matmul | f32[" + m + "," + k + "] f32[" + k + "," + n + "]@panel32! -> f32[" + m + "," + n + "]",
                      {x.data(), packed.data()}, made.data()),
                  nullptr)
            << kernel.id;
        return made;
    }
    double sum(std::int64_t m, std::int64_t n) {
        double total = 0;
        for (std::int64_t k = 0; k < depth; ++k) total += static_cast<double>(left(m, k)) * right(k, n);
        return total;
    }
    /// The largest error of an element, in units of 2^-24 of the sum of the magnitudes of its terms.
    double error(const std::vector<float>& got) {
        double worst = 0;
        for (std::int64_t m = 0; m < rows; ++m)
            for (std::int64_t n = 0; n < columns; ++n) {
                double magnitude = 0;
                for (std::int64_t k = 0; k < depth; ++k)
                    magnitude += std::fabs(static_cast<double>(left(m, k)) * right(k, n));
                const double wrong = std::fabs(got[static_cast<std::size_t>(m * columns + n)] - sum(m, n));
                worst = std::max(worst, magnitude > 0 ? wrong / magnitude * 0x1p24 : wrong);
            }
        return worst;
    }
    void fill(const std::function<float()>& next) {
        for (float& value : x) value = next();
        for (float& value : w) value = next();
    }
};

// Each sum has one term that is not zero.
TEST(Bf16Panel, SixProductsKeepAllBitsOfAFloat) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {15, 16, 17, 31, 32, 33, 49, 100, 193, 400})
        for (const auto& [depth, columns] :
             {std::pair<std::int64_t, std::int64_t>(32, 1), {33, 33}, {70, 64}, {1100, 40}}) {
            Matrices m{rows, depth, columns};
            for (std::int64_t n = 0; n < columns; ++n)
                m.right((n * 37 + 5) % depth, n) = n % 2 == 0 ? 0x1p-7F : -0x1p9F;
            for (float& value : m.x)
                value =
                    std::ldexp(1 + static_cast<float>(random() >> 9) * 0x1p-23F, static_cast<int>(random() % 40) - 20) *
                    (random() % 2 == 0 ? 1 : -1);
            for (const Kernel& kernel : products("bf16x6")) {
                const std::vector<float> got = m.product(kernel);
                for (std::int64_t i = 0; i < rows; ++i)
                    for (std::int64_t n = 0; n < columns; ++n)
                        ASSERT_EQ(got[static_cast<std::size_t>(i * columns + n)], static_cast<float>(m.sum(i, n)))
                            << kernel.id << " " << rows << " " << depth << " " << columns << " at " << i << " " << n;
            }
        }
}

TEST(Bf16Panel, SixProductsErrLessThanAChainOfMultiplyAdds) {
    constexpr std::int64_t rows = 32, depth = 3072, columns = 32;
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    Matrices ordinary{rows, depth, columns}, outliers{rows, depth, columns}, cancelling{rows, depth, columns};
    ordinary.fill([&] { return normal(random); });
    outliers.fill([&] { return std::exp(3 * normal(random)) * (random() % 2 == 0 ? 1.0F : -1.0F); });
    cancelling.fill([&] { return normal(random); });
    for (std::int64_t m = 0; m < rows; ++m) {
        outliers.left(m, 191) *= 1000;
        for (std::int64_t k = 0; k < depth / 2; ++k) cancelling.left(m, depth / 2 + k) = -cancelling.left(m, k);
    }
    for (std::int64_t k = 0; k < depth / 2; ++k)
        for (std::int64_t n = 0; n < columns; ++n)
            cancelling.right(depth / 2 + k, n) = cancelling.right(k, n) * 1.0001F;
    const auto chain_error = [](Matrices& of) {
        std::vector<float> made;
        for (std::int64_t m = 0; m < rows; ++m)
            for (std::int64_t n = 0; n < columns; ++n) {
                float sum = 0;
                for (std::int64_t k = 0; k < depth; ++k) sum = std::fma(of.left(m, k), of.right(k, n), sum);
                made.push_back(sum);
            }
        return of.error(made);
    };
    for (Matrices* each : {&ordinary, &outliers, &cancelling})
        for (const Kernel& kernel : products("bf16x6"))
            EXPECT_LT(each->error(each->product(kernel)), chain_error(*each) / 2) << kernel.id;
    for (const Kernel& kernel : products("bf16x3"))
        EXPECT_LT(ordinary.error(ordinary.product(kernel)), 64) << kernel.id;
    for (const Kernel& kernel : products("bf16"))
        EXPECT_LT(ordinary.error(ordinary.product(kernel)), 0x1p15) << kernel.id;
}

// Rows and weights with numbers that parts lose: not finite, close to the largest, tiny, subnormal.
TEST(Bf16Panel, NumbersThatPartsCannotHoldAreMultipliedAsFloats) {
    constexpr std::int64_t depth = 300, columns = 70;
    constexpr float largest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (const float special :
         {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), largest, -largest, 0x1.fffp127F, 0x1p-60F,
          0x1p-80F, 0x1.8p-81F, 0x1p-100F, 0x1p-126F, 0x1.234p-130F, least})
        for (const bool is_weight : {false, true})
            for (const std::int64_t rows : {17, 32, 200}) {
                Matrices m{rows, depth, columns};
                m.fill([&] { return normal(random); });
                // A row, or a column, of tiny elements, and a term that is alone.
                const bool is_tiny = std::fabs(special) < 1;
                for (std::int64_t k = 0; k < depth; ++k) {
                    if (is_tiny && !is_weight) m.left(5, k) = k % 3 == 0 ? special : 0;
                    if (is_tiny && is_weight) m.right(k, 40) = k % 3 == 0 ? special : 0;
                }
                if (is_weight)
                    m.right(7, 33) = special, m.left(3, 7) = 1, m.left(4, 7) = 0;
                else
                    m.left(11, 200) = special, m.right(200, 3) = 1, m.right(200, 4) = 0;
                for (const std::string kind : {"bf16x6", "bf16x3", "bf16"})
                    for (const Kernel& kernel : products(kind)) {
                        const std::vector<float> got = m.product(kernel);
                        const double unit = kind == "bf16x6" ? 0x1p-22 : kind == "bf16x3" ? 0x1p-16 : 0x1p-8;
                        for (std::int64_t i = 0; i < rows; ++i)
                            for (std::int64_t n = 0; n < columns; ++n) {
                                double magnitude = 0;
                                for (std::int64_t k = 0; k < depth; ++k)
                                    magnitude += std::fabs(static_cast<double>(m.left(i, k)) * m.right(k, n));
                                const float value = got[static_cast<std::size_t>(i * columns + n)];
                                const double wanted = m.sum(i, n);
                                const std::string place = kernel.id + " with " + std::to_string(special) + " in " +
                                                          (is_weight ? "w" : "x") + " at " + std::to_string(i) + " " +
                                                          std::to_string(n);
                                if (std::isnan(wanted))
                                    ASSERT_TRUE(std::isnan(value)) << place;
                                else if (std::fabs(wanted) > largest)
                                    ASSERT_EQ(value, wanted > 0 ? infinity : -infinity) << place;
                                else
                                    ASSERT_NEAR(value, wanted, magnitude * unit + depth * least) << place;
                            }
                    }
            }
}

// Tiny elements beside large ones lose parts only where these do not matter.
TEST(Bf16Panel, TinyElementsAreExactAlone) {
    for (const float tiny : {0x1p-60F, 0x1.5p-90F, 0x1.fp-126F, 0x1p-140F})
        for (const float other : {1.0F, 0x1p60F, 0x1p100F, 0x1p-20F}) {
            Matrices m{20, 64, 40};
            m.left(2, 5) = tiny, m.left(2, 6) = 1, m.left(3, 6) = 1, m.right(5, 7) = other, m.right(6, 8) = tiny;
            for (const Kernel& kernel : products("bf16x6")) {
                const std::vector<float> got = m.product(kernel);
                EXPECT_EQ(got[2 * 40 + 7], static_cast<float>(static_cast<double>(tiny) * other)) << kernel.id;
                EXPECT_EQ(got[2 * 40 + 8], tiny) << kernel.id;
                EXPECT_EQ(got[3 * 40 + 8], tiny) << kernel.id;
            }
        }
}

}  // namespace
}  // namespace cairn::test
