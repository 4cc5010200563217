#include "accuracy/metric/error_norms.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace cairn::accuracy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

ErrorNorms norms(const std::vector<std::pair<double, double>>& pairs) {
    const auto for_each_pair = [&](const auto& see) {
        for (const auto& [y, r] : pairs) see(y, r);
    };
    return error_norms(for_each_pair, is_same_number);
}

TEST(ErrorNorms, AreTheRelativeL2ErrorAndTheMaximumError) {
    const ErrorNorms off = norms({{3, 3}, {4.5, 4}});
    EXPECT_DOUBLE_EQ(off.relative, 0.5 / 5);
    EXPECT_DOUBLE_EQ(off.largest, 0.5 / 4);
    EXPECT_DOUBLE_EQ(off.combined(), 0.1);
    const ErrorNorms small = norms({{3, 3}, {4, 4}, {0.1, 0}});
    EXPECT_DOUBLE_EQ(small.largest, 0.1 / std::sqrt(25.0 / 3)) << "by the RMS where the number itself is smaller";
}

TEST(ErrorNorms, AreZeroForEqualTensors) {
    for (const auto& pairs : std::vector<std::vector<std::pair<double, double>>>{
             {}, {{0.0, -0.0}}, {{nan, -nan}, {infinity, infinity}}, {{1e300, 1e300}}}) {
        EXPECT_EQ(norms(pairs).relative, 0);
        EXPECT_EQ(norms(pairs).largest, 0);
    }
}

TEST(ErrorNorms, AreInfiniteForNonFiniteNumbers) {
    for (const auto& pair : std::vector<std::pair<double, double>>{
             {nan, 1}, {1, nan}, {infinity, 1}, {1, infinity}, {infinity, -infinity}, {1e300, 1.1e300}, {1e-30, 0}})
        EXPECT_EQ(norms({pair}).combined(), infinity) << pair.first << " for " << pair.second;
}

TEST(ErrorNorms, NonFiniteNumbersAreExcludedFromTheRms) {
    const ErrorNorms off = norms({{nan, nan}, {infinity, infinity}, {2, 1}});
    EXPECT_DOUBLE_EQ(off.relative, 1);
    EXPECT_DOUBLE_EQ(off.largest, 1);
}

TEST(ErrorNorms, TheRelativeErrorIsBoundedWhereSquaresUnderflow) {
    const ErrorNorms off = norms({{1e-300, 2e-300}, {1e-300, 1e-300}});
    EXPECT_DOUBLE_EQ(off.largest, 0.5);
    EXPECT_DOUBLE_EQ(off.relative, 0.5 * std::sqrt(2.0));
    EXPECT_GE(off.relative, 1 / std::sqrt(5.0)) << "the relative error itself";
}

}  // namespace
}  // namespace cairn::accuracy
