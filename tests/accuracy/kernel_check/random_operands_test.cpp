#include "accuracy/kernel_check/random_operands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace cairn::kernel_check {
namespace {

Problem problem_of(const std::string& text) {
    const auto symbols = Symbols::create();
    return parse_problem(text, *symbols);
}

std::int64_t odd_ones(const interpreter::Value& value) {
    return std::count_if(value.data.begin(), value.data.end(),
                         [](double x) { return !std::isfinite(x) || x == 0 || std::fabs(x) < 1e-30; });
}

TEST(RandomOperand, IndicesAreWithinTheAxis) {
    const Problem problem = problem_of("gather axis=(-2) | f32[3,5,2] i64[400] -> f32[3,400,2]");
    std::mt19937_64 random(1);
    const interpreter::Value indices = random_inputs(problem, {}, SpecialValues::many, random).values[1];
    const auto [least, most] = std::minmax_element(indices.integers.begin(), indices.integers.end());
    EXPECT_EQ(*least, 0);
    EXPECT_EQ(*most, 4);
}

TEST(RandomOperand, OneSpecialOfTheFirstOperandIsNaN) {
    const Problem problem = problem_of("add | f32[40,40] f32[40,40] -> f32[40,40]");
    std::mt19937_64 random(1);
    for (int i = 0; i < 50; ++i) {
        const interpreter::Value first = random_operand(problem.inputs[0], {}, true, SpecialValues::few, random);
        EXPECT_TRUE(std::any_of(first.data.begin(), first.data.end(), [](double x) { return std::isnan(x); }));
        EXPECT_LE(odd_ones(first), 2);
        EXPECT_LE(odd_ones(random_operand(problem.inputs[1], {}, false, SpecialValues::few, random)), 2);
        EXPECT_EQ(odd_ones(random_operand(problem.inputs[0], {}, true, SpecialValues::none, random)), 0);
    }
}

TEST(RandomOperand, EmptyOperandsHaveNoSpecialValues) {
    const Problem problem = problem_of("exp | f32[0,4] -> f32[0,4]");
    std::mt19937_64 random(1);
    EXPECT_TRUE(random_operand(problem.inputs[0], {}, true, SpecialValues::few, random).data.empty());
}

// The values are those in memory: repeated rows have one value.
TEST(RandomOperand, RepeatedElementsAreOneValue) {
    const Problem problem = problem_of("add | f32[3,4]:(0,1) f32[3,4] -> f32[3,4]");
    std::mt19937_64 random(1);
    const RandomInputs inputs = random_inputs(problem, {}, SpecialValues::none, random);
    ASSERT_EQ(inputs.values.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(inputs.tensors[i].read().data, inputs.values[i].data);
    const std::vector<double>& rows = inputs.values[0].data;
    ASSERT_EQ(rows.size(), 12u);
    for (std::size_t i = 4; i < 12; ++i) EXPECT_EQ(rows[i], rows[i - 4]);
}

}  // namespace
}  // namespace cairn::kernel_check
