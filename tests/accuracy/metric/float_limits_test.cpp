#include "accuracy/metric/float_limits.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::accuracy {
namespace {

TEST(FloatLimits, MatchTheStandard) {
    EXPECT_EQ(2 * unit_roundoff(DType::f64), std::numeric_limits<double>::epsilon());
    EXPECT_EQ(2 * unit_roundoff(DType::f32), std::numeric_limits<float>::epsilon());
    EXPECT_EQ(smallest_normal(DType::f64), std::numeric_limits<double>::min());
    EXPECT_EQ(smallest_normal(DType::f32), std::numeric_limits<float>::min());
    EXPECT_EQ(largest_finite(DType::f64), std::numeric_limits<double>::max());
    EXPECT_EQ(largest_finite(DType::f32), std::numeric_limits<float>::max());
    EXPECT_EQ(largest_finite(DType::f16), 65504);
    EXPECT_EQ(largest_finite(DType::bf16), std::ldexp(2 - std::ldexp(1, -7), 127));
    for (const DType dtype : {DType::i64, DType::i8, DType::boolean}) {
        EXPECT_THROW(unit_roundoff(dtype), InternalError);
        EXPECT_THROW(smallest_normal(dtype), InternalError);
        EXPECT_THROW(largest_finite(dtype), InternalError);
    }
}

TEST(FloatLimits, AnInfinityReplacesOnlyNumbersBeyondTheRange) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(is_overflow(infinity, 65520, DType::f16));
    EXPECT_TRUE(is_overflow(-infinity, -1e6, DType::f16));
    EXPECT_FALSE(is_overflow(infinity, -1e6, DType::f16)) << "of the other sign";
    EXPECT_FALSE(is_overflow(infinity, 60000, DType::f16));
    EXPECT_FALSE(is_overflow(65504, 1e6, DType::f16)) << "no infinity";
    EXPECT_FALSE(is_overflow(infinity, 65520, DType::f32));
}

TEST(FloatLimits, AnErrorBoundIsFiniteAndNotNegative) {
    for (const double bound : {0.0, 1e-3, 2.0}) EXPECT_TRUE(is_valid_error_bound(bound));
    for (const double bound :
         {-1e-3, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(is_valid_error_bound(bound));
}

}  // namespace
}  // namespace cairn::accuracy
