#include "cairn/tolerance.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace cairn {
namespace {

TEST(ToleranceTest, ExactIsTheDefaultAndHasNoError) {
    EXPECT_EQ(Tolerance(), Tolerance::exact());
    EXPECT_TRUE(Tolerance::exact().is_exact());
    EXPECT_EQ(Tolerance::exact().error(), 0);
    EXPECT_EQ(to_string(Tolerance::exact()), "exact");
}

TEST(ToleranceTest, ARelativeOneKeepsItsValue) {
    const Tolerance tolerance = Tolerance::relative(1e-3);
    EXPECT_FALSE(tolerance.is_exact());
    EXPECT_EQ(tolerance.error(), 1e-3);
    EXPECT_EQ(to_string(tolerance), "0.001");
    EXPECT_NE(tolerance, Tolerance::relative(1e-2));
}

TEST(ToleranceTest, AnInvalidErrorIsRefused) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const double wrong : {0.0, -0.0, -1e-3, std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
        try {
            Tolerance::relative(wrong);
            ADD_FAILURE() << wrong;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::argument);
            EXPECT_NE(std::string(error.what()).find("[tolerance] an error must be finite and above 0, got "),
                      std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace cairn
