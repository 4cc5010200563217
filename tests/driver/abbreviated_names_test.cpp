#include "driver/abbreviated_names.hpp"

#include "driver/quantity_text.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(AbbreviatedNames, MergeNamesThatDifferInOneNumber) {
    EXPECT_EQ(driver::abbreviated_names({"h.0.w", "h.1.w", "h.2.w", "x"}), "h.0..2.w, x");
    EXPECT_EQ(driver::abbreviated_names({"h.2.w", "h.11.w", "h.9.w"}), "h.2..11.w") << "by value, not by letters";
    EXPECT_EQ(driver::abbreviated_names({"layer 3 attention"}), "layer 3 attention");
    EXPECT_EQ(driver::abbreviated_names({"h.0.w4", "h.1.w4"}), "h.0..1.w4");
    EXPECT_EQ(driver::abbreviated_names({}), "");
}

TEST(AbbreviatedNames, ListTheFirstOfManyNames) {
    EXPECT_EQ(driver::abbreviated_names({"a", "b", "c", "d"}), "a, b, c and 1 more");
    EXPECT_EQ(driver::abbreviated_names({"a1.1", "a1.2", "a2.1"}, 2), "a1.1, a1.2 and 1 more") << "two numbers differ";
}

TEST(QuantityText, HasThreeDigitsAndAUnit) {
    EXPECT_EQ(driver::duration_text(0), "0 ns");
    EXPECT_EQ(driver::duration_text(462.4e-6), "462 us");
    EXPECT_EQ(driver::duration_text(16.94e-3), "16.9 ms");
    EXPECT_EQ(driver::duration_text(3.3564), "3.36 s");
    EXPECT_EQ(driver::duration_text(0.9999e-3), "1.00 ms");
    EXPECT_EQ(driver::difference_text(1.2e-6), "+1.20 us");
    EXPECT_EQ(driver::difference_text(-1.2e-6), "-1.20 us");
    EXPECT_EQ(driver::size_text(512), "512 B");
    EXPECT_EQ(driver::size_text(4'194'304), "4.19 MB");
}

}  // namespace
}  // namespace cairn
