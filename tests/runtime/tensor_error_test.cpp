#include "runtime/tensor_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace cairn::runtime {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// tensor_error() over segments of `chunk` elements.
template <typename T>
double off(DType dtype, const std::vector<T>& got, const std::vector<T>& wanted, std::size_t chunk = 100) {
    return tensor_error(dtype, [&](const CompareSegment& compare) {
        for (std::size_t at = 0; at < got.size(); at += chunk) {
            const std::size_t count = std::min(chunk, got.size() - at);
            compare(reinterpret_cast<const std::byte*>(got.data() + at),
                    reinterpret_cast<const std::byte*>(wanted.data() + at), count * sizeof(T));
        }
    });
}

TEST(TensorError, IsTheRelativeErrorOrATenthOfTheLargest) {
    const std::vector<double> wanted{3, 4, 0, 0};
    EXPECT_DOUBLE_EQ(off<double>(DType::f64, {3, 4.5, 0, 0}, wanted), 0.1);
    EXPECT_DOUBLE_EQ(off<double>(DType::f64, {3, 4.5, 0, 0}, wanted, 1), 0.1);
    std::vector<double> many(10'000, 1), one = many;
    one[77] = 2;
    EXPECT_DOUBLE_EQ(off(DType::f64, one, many, 7), 0.1) << "in L2 it is 0.01";
    EXPECT_DOUBLE_EQ(off<float>(DType::f32, {3, 4.5F, 0, 0}, {3, 4, 0, 0}), 0.1);
    EXPECT_DOUBLE_EQ(off<std::uint16_t>(DType::f16, {0x4200, 0x4480}, {0x4200, 0x4400}), 0.1);
    EXPECT_DOUBLE_EQ(off<std::uint16_t>(DType::bf16, {0x4040, 0x4090}, {0x4040, 0x4080}), 0.1);
}

TEST(TensorError, IsZeroBetweenEqualTensors) {
    EXPECT_EQ(off<double>(DType::f64, {}, {}), 0);
    EXPECT_EQ(off<double>(DType::f64, {0, -0.0}, {-0.0, 0}), 0);
    EXPECT_EQ(off<double>(DType::f64, {nan, infinity, 1}, {-nan, infinity, 1}), 0);
    EXPECT_EQ(off<double>(DType::f64, {1e300, 2}, {1e300, 2}), 0);
    EXPECT_EQ(off<std::int64_t>(DType::i64, {1, 2}, {1, 2}, 1), 0);
    EXPECT_NEAR(off<double>(DType::f64, {1, 2.2, nan}, {1, 2, nan}), 0.2 / std::sqrt(5), 1e-12);
}

TEST(TensorError, IsInfiniteForDifferentNonFiniteElements) {
    for (const double got : {nan, infinity, 1.0})
        for (const double wanted : {nan, infinity, -infinity, 2.0}) {
            const bool same = (std::isnan(got) && std::isnan(wanted)) || got == wanted;
            const bool numbers = std::isfinite(got) && std::isfinite(wanted);
            EXPECT_EQ(off<double>(DType::f64, {got, 1}, {wanted, 1}) == infinity, !same && !numbers)
                << got << " for " << wanted;
        }
    EXPECT_EQ(off<double>(DType::f64, {0, 1e-30}, {0, 0}), infinity);
    EXPECT_EQ(off<double>(DType::f64, {1e300, 1}, {1.1e300, 1}), infinity) << "squares overflow";
    EXPECT_DOUBLE_EQ(off<double>(DType::f64, {1e-300, 0}, {2e-300, 0}), std::sqrt(0.5)) << "squares vanish: a bound";
    EXPECT_EQ(off<std::int32_t>(DType::i32, {1, 2, 3}, {1, 2, 4}, 1), infinity);
    EXPECT_EQ(off<std::uint8_t>(DType::boolean, {1, 0}, {1, 1}), infinity);
}

}  // namespace
}  // namespace cairn::runtime
