#include "fusion/candidate_numbers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::test {
namespace {

TEST(CandidateNumbers, FloatsAreShortened) {
    EXPECT_EQ(fusion::shortest_decimal(static_cast<double>(1e-5F)), 1e-5);
    EXPECT_EQ(fusion::shortest_decimal(static_cast<double>(0.044715F)), 0.044715);
    EXPECT_EQ(fusion::shortest_decimal(static_cast<double>(std::numeric_limits<float>::lowest())), -3.4028235e38);
    EXPECT_EQ(fusion::shortest_decimal(0.1), 0.1);
}

TEST(CandidateNumbers, ExactNumbersAreKept) {
    EXPECT_EQ(fusion::shortest_decimal(1073741824, DType::i32), 1073741824);
    EXPECT_EQ(fusion::shortest_decimal(0x1p62, DType::i64), 0x1p62);
    EXPECT_EQ(fusion::shortest_decimal(-0x1p63, DType::i64), -0x1p63);
    EXPECT_EQ(fusion::shortest_decimal(static_cast<double>(0.1F), DType::f64), static_cast<double>(0.1F));
    EXPECT_EQ(fusion::shortest_decimal(1e300, DType::f64), 1e300);
    EXPECT_EQ(fusion::shortest_decimal(-std::numeric_limits<double>::infinity()),
              -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace cairn::test
