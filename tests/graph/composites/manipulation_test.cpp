#include "composite_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Reductions, MinimumIsExactInEveryDtype) {
    for (const DType dtype : {DType::i64, DType::i32, DType::i8, DType::u8}) {
        Trial t;
        const double low = dtype == DType::i64   ? -0x1p63
                           : dtype == DType::i32 ? -0x1p31
                           : dtype == DType::i8  ? -128
                                                 : 0;
        const Tensor x = t.input("x", {2, 2}, {low, 5, 7, 7}, dtype);
        EXPECT_EQ(t.value_of(min_reduce(x, 1)).integers,
                  (std::vector<std::int64_t>{static_cast<std::int64_t>(low), 7}));
        EXPECT_EQ(t.value_of(argmin(x, 1)).integers, (std::vector<std::int64_t>{0, 0}));
        const Tensor none = t.input("none", {1, 0}, {}, dtype);
        const std::int64_t high = dtype == DType::i64   ? std::numeric_limits<std::int64_t>::max()
                                  : dtype == DType::i32 ? std::numeric_limits<std::int32_t>::max()
                                  : dtype == DType::i8  ? 127
                                                        : 255;
        EXPECT_EQ(t.value_of(min_reduce(none, 1)).integers, (std::vector<std::int64_t>{high}));
    }
    Trial t;
    const Tensor x = t.input("x", {2, 2}, {1, std::nan(""), -inf, 3});
    EXPECT_TRUE(std::isnan(t.value_of(min_reduce(x, 1)).data[0]));
    EXPECT_EQ(t.value_of(min_reduce(x, 1)).data[1], -inf);
    EXPECT_EQ(t.value_of(argmin(x, 1)).integers, (std::vector<std::int64_t>{1, 0}));
}

TEST(Reductions, AnyAndAllOfNoElementsAreFalseAndTrue) {
    Trial t;
    const Tensor x = t.input("x", {3, 2}, {0, 0, 0, 1, 1, 1}, DType::boolean);
    EXPECT_EQ(t.value_of(any(x, 1)).integers, (std::vector<std::int64_t>{0, 1, 1}));
    EXPECT_EQ(t.value_of(all(x, 1, true)).integers, (std::vector<std::int64_t>{0, 0, 1}));
    EXPECT_EQ(any(x).dtype(), DType::boolean);
    const Tensor none = t.input("none", {1, 0}, {}, DType::boolean);
    EXPECT_EQ(t.value_of(any(none, 1)).integers, (std::vector<std::int64_t>{0}));
    EXPECT_EQ(t.value_of(all(none, 1)).integers, (std::vector<std::int64_t>{1}));
}

TEST(Arrangement, StackRepeatAndChunkSupportSymbolicSizes) {
    Trial t;
    const Dim n = t.symbol("N", 0, 9, 2);
    const Tensor x = t.input("x", DType::f64, {2 * n}, {4}, {1, 2, 3, 4});
    const Tensor both = stack({x, -x}, -1);
    EXPECT_EQ(to_string(both.shape()), "[2*N,2]");
    EXPECT_EQ(t.value_of(both).data, (Numbers{1, -1, 2, -2, 3, -3, 4, -4}));
    EXPECT_EQ(t.value_of(stack({x, -x})).data, (Numbers{1, 2, 3, 4, -1, -2, -3, -4}));
    EXPECT_EQ(t.value_of(repeat(x, 2, 0)).data, (Numbers{1, 1, 2, 2, 3, 3, 4, 4}));
    EXPECT_EQ(t.value_of(repeat(x, n - n, -1)).data, Numbers{});
    EXPECT_EQ(t.value_of(chunk(x, 2)[1]).data, (Numbers{3, 4}));
    EXPECT_EQ(t.value_of(split(x, {n, n - 0})[0]).data, (Numbers{1, 2}));
    EXPECT_EQ(t.value_of(tile(x, {n})).data, (Numbers{1, 2, 3, 4, 1, 2, 3, 4}));
    EXPECT_EQ(squeeze(unsqueeze(x, 0)).rank(), 1);
}

TEST(Sorting, IsStableAndPutsNaNLast) {
    Trial t;
    const Tensor x = t.input("x", {1, 6}, {3, std::nan(""), 1, 3, -inf, 1});
    const Sorted up = sort(x), down = sort(x, 1, true);
    EXPECT_EQ(t.value_of(up.indices).integers, (std::vector<std::int64_t>{4, 2, 5, 0, 3, 1}));
    EXPECT_EQ(t.value_of(down.indices).integers, (std::vector<std::int64_t>{1, 0, 3, 2, 5, 4}));
    const auto values = t.value_of(up.values).data;
    EXPECT_EQ(Numbers(values.begin(), values.end() - 1), (Numbers{-inf, 1, 1, 3, 3}));
    EXPECT_EQ(t.value_of(topk(x, 2, -1, false).values).data, (Numbers{-inf, 1}));
    EXPECT_EQ(topk(x, 0).values.dim(1), Dim(0));
}

TEST(Rounding, KeepsTheSignOfZero) {
    Trial t;
    const auto got = t.value_of(round(t.input("x", {4}, {-0.5, -0.25, 0.5, -0.0}))).data;
    EXPECT_EQ(got, (Numbers{0, 0, 0, 0}));
    EXPECT_TRUE(std::signbit(got[0]) && std::signbit(got[1]) && !std::signbit(got[2]) && std::signbit(got[3]));
}

TEST(Gates, MultiplyTheActivationByTheOtherOperand) {
    Trial t;
    const Tensor a = t.input("a", {3}, {-1, 0.5, 2}), b = t.input("b", {3}, {2, 3, -1});
    EXPECT_EQ(t.value_of(swiglu(a, b)).data, t.value_of(silu(a) * b).data);
    EXPECT_EQ(t.value_of(geglu(a, b)).data, t.value_of(gelu(a) * b).data);
}

}  // namespace
}  // namespace cairn::test
