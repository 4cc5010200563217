#include "accuracy/kernel_check/tolerance.hpp"

#include "cairn/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::kernel_check {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

interpreter::Value floats(std::vector<double> data, std::vector<std::int64_t> shape, DType dtype = DType::f32) {
    interpreter::Value value;
    value.dtype = dtype;
    value.shape = std::move(shape);
    value.data = std::move(data);
    return value;
}

interpreter::Value row(std::vector<double> data, DType dtype = DType::f32) {
    const auto size = static_cast<std::int64_t>(data.size());
    return floats(std::move(data), {size}, dtype);
}

/// The allowances of the first output.
std::vector<double> allowed(const std::string& text, std::vector<interpreter::Value> inputs) {
    const KernelSet kernels = cpu_kernels();
    auto symbols = Symbols::create();
    const Problem problem = parse_problem(text, *symbols);
    return allowed_errors(problem, kernels.definitions,
                          evaluate_definition(problem, kernels.definitions, std::move(inputs)), 0);
}

TEST(Tolerance, OfOneOpIsRelativeToTheElement) {
    const auto errors = allowed("neg | f32[3] -> f32[3]", {row({4, 0, -8})});
    EXPECT_DOUBLE_EQ(errors[0], 64 * 0x1p-24 + 0x1p-126);
    EXPECT_DOUBLE_EQ(errors[1], 0x1p-126);
    EXPECT_DOUBLE_EQ(errors[2], 2 * 64 * 0x1p-24 + 0x1p-126);
}

TEST(Tolerance, OfACompositeDependsOnAllElements) {
    const auto errors = allowed("relu | f32[4] -> f32[4]", {row({4, 0, 0, 0})});
    EXPECT_DOUBLE_EQ(errors[0], 64 * 0x1p-24 * (4 + 2) + 0x1p-126);
    EXPECT_DOUBLE_EQ(errors[1], 64 * 0x1p-24 * 2 + 0x1p-126);
}

TEST(Tolerance, OfASumGrowsWithCancellation) {
    const auto errors = allowed("sum axes=(-1) | f32[2,2] -> f32[2,1]", {floats({1, 1, 1e6, -1e6}, {2, 2})});
    EXPECT_DOUBLE_EQ(errors[0], 18 * 0x1p-24 * 1.13 * 2 + 16 * 0x1p-24 + 0x1p-126);
    EXPECT_DOUBLE_EQ(errors[1], 18 * 0x1p-24 * 1.13 * 2e6 + 0x1p-126);
}

TEST(Tolerance, IsThatOfTheCoarsestFloat) {
    EXPECT_DOUBLE_EQ(allowed("neg | bf16[1] -> bf16[1]", {row({4}, DType::bf16)})[0], 64 * 0x1p-8 + 0x1p-126);
    EXPECT_DOUBLE_EQ(allowed("neg | f64[1] -> f64[1]", {row({4}, DType::f64)})[0],
                     64 * 0x1p-53 + std::numeric_limits<double>::min());
    EXPECT_DOUBLE_EQ(allowed("cast dtype=(" + std::to_string(static_cast<int>(DType::f32)) + ") | f16[1] -> f32[1]",
                             {row({4}, DType::f16)})[0],
                     64 * 0x1p-24 + 0x1p-126)
        << "but a cast's is that of its result";
}

TEST(Tolerance, OfInfiniteElementsIsZero) {
    EXPECT_LT(allowed("exp | f32[1] -> f32[1]", {row({infinity})})[0], 1e-30);
    EXPECT_LT(allowed("silu | f32[1] -> f32[1]", {row({infinity})})[0], 1e-30);
    EXPECT_LT(allowed("sum axes=(0) | f32[2] -> f32[1]", {row({infinity, 1})})[0], 1e-30);
}

TEST(Tolerance, OfIntegersAndEmptyTensorsIsZero) {
    interpreter::Value integers;
    integers.dtype = DType::i32;
    integers.shape = {2};
    integers.integers = {1, 2};
    EXPECT_EQ(allowed("neg | i32[2] -> i32[2]", {integers}), (std::vector<double>{0, 0}));
    EXPECT_TRUE(allowed("relu | f32[0] -> f32[0]", {row({})}).empty());
}

/// The roundoff errors of the first output of a body.
std::vector<double> roundoff(const std::string& text, std::vector<interpreter::Value> inputs) {
    auto symbols = Symbols::create();
    const Problem problem = parse_problem(text, *symbols);
    return roundoff_errors(problem, {}, evaluate_definition(problem, {}, std::move(inputs)), 0);
}

TEST(Tolerance, RoundoffIsThatOfTheTermsWhichCancel) {
    const auto errors = roundoff(
        "elementwise {1=const(1):f32 2=erf(0):f32 3=add(2,1):f32} | f32[3] -> f32[3] results (3)", {row({-3, 0, 3})});
    EXPECT_GT(errors[0], 8 * 0x1p-24) << "erf(-3) is nearly -1";
    EXPECT_LT(errors[0], 32 * 0x1p-24);
    EXPECT_EQ(errors[1], 0) << "1 + 0 is exact";
    EXPECT_LT(errors[2], 4 * 16 * 0x1p-24);
    EXPECT_EQ(roundoff("elementwise {1=const(0.5):f64 2=add(0,1):f64} | f64[1] -> f64[1] results (2)",
                       {row({0.1}, DType::f64)})[0],
              0)
        << "the reference is computed in f64 itself";
}

std::string difference(double got, double wanted, double allowance = 0.5, DType dtype = DType::f32) {
    return first_difference(row({got}, dtype), row({wanted}, dtype), {allowance});
}

TEST(Tolerance, TheAllowanceIsInclusive) {
    EXPECT_EQ(difference(1.5, 1), "");
    EXPECT_EQ(difference(1.75, 1), "element 0 is 1.75, not 1 (off by 0.75, allowed 0.5)");
    EXPECT_EQ(difference(-0.0, 0, 0), "");
}

TEST(Tolerance, NaNMustBeNaNAndInfinityInfinity) {
    EXPECT_EQ(difference(nan, nan), "");
    EXPECT_NE(difference(nan, 1), "");
    EXPECT_NE(difference(1, nan, infinity), "");
    EXPECT_EQ(difference(infinity, infinity), "");
    EXPECT_NE(difference(-infinity, infinity), "");
    EXPECT_NE(difference(infinity, 1e30), "");
    EXPECT_EQ(difference(infinity, 3.5e38), "") << "too large for an f32";
    EXPECT_NE(difference(-infinity, 3.5e38), "");
    EXPECT_EQ(difference(3.4028234e38, infinity), "") << "just below it";
    EXPECT_NE(difference(-3.4028234e38, infinity), "");
    EXPECT_NE(difference(1e30, infinity), "");
    EXPECT_EQ(difference(infinity, 65520, 0.5, DType::f16), "");
    EXPECT_NE(difference(infinity, 64000, 0.5, DType::f16), "");
}

TEST(Tolerance, DifferentShapesAndTypesDiffer) {
    EXPECT_NE(first_difference(row({1, 2}), floats({1, 2}, {1, 2}), {1, 1}), "");
    EXPECT_NE(first_difference(row({1}), row({1}, DType::f64), {1}), "");
    EXPECT_EQ(first_difference(row({}), row({}), {}), "");
}

}  // namespace
}  // namespace cairn::kernel_check
