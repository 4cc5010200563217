#include "composite_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

// Sizes known only at run time, and NaN and infinity; onnx_test covers fixed sizes.
namespace cairn::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

TEST(Convolution, SupportsSymbolicSizes) {
    for (const std::int64_t length : {3, 4, 9}) {
        Trial t;
        const Dim n = t.symbol("N", 3, 20, length);
        const Numbers numbers = some_numbers(static_cast<std::size_t>(length));
        const Tensor x = t.input("x", DType::f64, {1, 1, n}, {1, 1, length}, numbers);
        const Tensor w = t.input("w", {1, 1, 3}, {1, 10, 100});
        const Tensor y = conv1d(x, w, {.stride = 2, .padding = 1});
        EXPECT_EQ(y.dim(2), (n - 1) / 2 + 1);
        const auto got = t.value_of(y);
        const auto at = [&](std::int64_t i) { return i < 0 || i >= length ? 0 : numbers[static_cast<std::size_t>(i)]; };
        ASSERT_EQ(got.shape[2], (length - 1) / 2 + 1);
        for (std::int64_t p = 0; p < got.shape[2]; ++p)
            EXPECT_DOUBLE_EQ(got.data[static_cast<std::size_t>(p)],
                             at(2 * p - 1) + 10 * at(2 * p) + 100 * at(2 * p + 1));
        const auto back = t.value_of(conv_transpose1d(x, w, {.stride = 2}));
        EXPECT_EQ(back.shape[2], 2 * length + 1);
        EXPECT_DOUBLE_EQ(back.data[2], 100 * at(0) + at(1));
    }
}

TEST(Convolution, IntegersAreExact) {
    Trial t;
    const Tensor x = t.input("x", {1, 1, 3}, {100, 100, 1}, DType::i8), w = t.input("w", {1, 1, 2}, {1, 1}, DType::i8);
    EXPECT_EQ(t.value_of(conv1d(x, w)).integers, (std::vector<std::int64_t>{-56, 101}));
    EXPECT_EQ(t.value_of(conv_transpose1d(x, w)).integers, (std::vector<std::int64_t>{100, -56, 101, 1}));
}

TEST(Convolution, LargePaddingOfATransposedOneCropsItsResult) {
    Trial t;
    const Tensor x = t.input("x", {1, 1, 3}, {1, 2, 3}), w = t.input("w", {1, 1, 1}, {1});
    EXPECT_EQ(t.value_of(conv_transpose1d(x, w, {.padding = 1})).data, (Numbers{2}));
}

TEST(Pools, SupportSymbolicSizes) {
    for (const std::int64_t length : {1, 2, 7}) {
        Trial t;
        const Dim n = t.symbol("N", 1, 20, length);
        const Numbers numbers = some_numbers(static_cast<std::size_t>(length));
        const Tensor x = t.input("x", DType::f64, {1, 1, n}, {1, 1, length}, numbers);
        const auto means = t.value_of(avg_pool(x, 3, {.stride = 1, .padding = 1}));
        ASSERT_EQ(means.shape[2], length);
        for (std::int64_t p = 0; p < length; ++p) {
            double sum = 0, count = 0;
            for (std::int64_t i = std::max<std::int64_t>(p - 1, 0); i <= std::min(p + 1, length - 1); ++i, ++count)
                sum += numbers[static_cast<std::size_t>(i)];
            EXPECT_DOUBLE_EQ(means.data[static_cast<std::size_t>(p)], sum / count);
        }
    }
}

TEST(Pools, PaddingIsBelowEveryElement) {
    Trial t;
    const PoolOptions same{.stride = 1, .padding = 1};
    const Tensor x = t.input("x", {1, 1, 4}, {-infinity, nan, -3, -4});
    const auto got = t.value_of(max_pool(x, 3, same)).data;
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[2]));
    EXPECT_EQ(got[3], -3);
    const double lowest = std::numeric_limits<std::int32_t>::min();
    const Tensor integers = t.input("i", {1, 1, 2}, {lowest, lowest}, DType::i32);
    EXPECT_EQ(t.value_of(max_pool(integers, 2, same)).integers[0], std::numeric_limits<std::int32_t>::min());
}

TEST(Upsampling, SupportsSymbolicSizes) {
    Trial t;
    const Dim n = t.symbol("N", 1, 20, 2);
    const Tensor x = t.input("x", DType::f64, {1, 1, n}, {1, 1, 2}, {1, 5});
    EXPECT_EQ(t.value_of(upsample_nearest(x, 3)).data, (Numbers{1, 1, 1, 5, 5, 5}));
    EXPECT_EQ(t.value_of(upsample_linear(x, 2)).data, (Numbers{1, 2, 4, 5}));
    EXPECT_EQ(upsample_linear(x, 4).dim(2), 4 * n);
}

TEST(ChannelNorms, SupportSymbolicSizes) {
    Trial t;
    const Dim n = t.symbol("N", 1, 20, 3);
    const Tensor x = t.input("x", DType::f64, {1, 2, n}, {1, 2, 3}, {1, 2, 3, 7, 7, 7});
    const Tensor gamma = t.input("gamma", {2}, {1, 2}), beta = t.input("beta", {2}, {0, 5});
    const auto alone = t.value_of(instance_norm(x, gamma, beta, 0.5)).data;
    const double unit = 1 / std::sqrt(2.0 / 3 + 0.5);
    EXPECT_NEAR(alone[0], -unit, 1e-12);
    EXPECT_NEAR(alone[2], unit, 1e-12);
    EXPECT_EQ(alone[4], 5);
    const auto parts = t.value_of(group_norm(x, 2, gamma, beta, 0.5)).data;
    for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_NEAR(parts[i], alone[i], 1e-12);
}

}  // namespace
}  // namespace cairn::test
