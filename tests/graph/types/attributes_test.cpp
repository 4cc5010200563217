#include "graph/types/attribute_number.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(NumberOr, TakesANumberAListOfOneOrTheDefault) {
    const Attributes attributes{{"scale", 0.125}, {"window", std::vector<Dim>{4}}, {"axes", std::vector<Dim>{0, 1}}};
    EXPECT_EQ(types::number_or(attributes, "scale", 1), 0.125);
    EXPECT_EQ(types::number_or(attributes, "window", 1), 4);
    EXPECT_EQ(types::number_or(attributes, "absent", 1), 1);
    EXPECT_THROW(types::number_or(attributes, "axes", 1), Error);
}

}  // namespace
}  // namespace cairn
