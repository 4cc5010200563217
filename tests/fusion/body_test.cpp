#include "fusion/body.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::fusion {
namespace {

const std::vector<Step> half_of_sum{
    {"const", {}, DType::f32, 0.5}, {"add", {0, 1}, DType::f32, 0}, {"mul", {3, 2}, DType::f32, 0}};

TEST(BodyBuilder, ReturnsTheStepsOfABody) {
    const Body body(half_of_sum);
    EXPECT_EQ(body.size(), 3u);
    EXPECT_EQ(body.steps(), half_of_sum);
    EXPECT_EQ(body.back().op, "mul");
    EXPECT_EQ(static_cast<std::vector<Step>>(body), half_of_sum);
    EXPECT_TRUE(Body().empty());
    EXPECT_TRUE(Body().steps().empty());
    EXPECT_EQ(Body(std::vector<Step>()), Body());
}

TEST(BodyBuilder, EqualStepsGiveEqualBodies) {
    BodyBuilder bodies;
    const auto made = [&](double number) {
        bodies.constant(DType::f32, number);
        bodies.add(ir::Op::add, DType::f32, std::vector<int>{0, 1});
        bodies.add(ir::Op::mul, DType::f32, std::vector<int>{3, 2});
        return bodies.finish();
    };
    const Body first = made(0.5);
    EXPECT_EQ(first, made(0.5));
    EXPECT_EQ(first, Body(half_of_sum));
    EXPECT_EQ(first.hash(), Body(half_of_sum).hash());
    EXPECT_FALSE(first == made(0.25));
    EXPECT_TRUE(bodies.finish().empty());
}

TEST(BodyBuilder, DefinitionsAreStepsByName) {
    const std::vector<Step> steps{{"matmul", {0, 1}, DType::f32, 0}, {"gelu_tanh", {2}, DType::f32, 0}};
    BodyBuilder bodies;
    bodies.add(ir::Op::matmul, DType::f32, std::vector<int>{0, 1});
    bodies.add("gelu_tanh", DType::f32, std::vector<int>{2});
    const Body body = bodies.finish();
    EXPECT_EQ(body.steps(), steps);
    EXPECT_EQ(body, Body(steps));
    EXPECT_FALSE(body == Body(std::vector<Step>{steps[0], {"gelu", {2}, DType::f32, 0}}));
    const std::vector<Step> of_two{{"conv2d", {0, 1}, DType::f32, 0}, {"relu", {2}, DType::f32, 0}};
    EXPECT_EQ(Body(of_two).steps(), of_two);
}

TEST(BodyBuilder, NumbersAreComparedBitwise) {
    const auto of = [](double number) { return Body(std::vector<Step>{{"const", {}, DType::f32, number}}); };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(of(0.0) == of(-0.0));
    EXPECT_EQ(of(nan), of(nan));
    EXPECT_TRUE(std::signbit(of(-0.0).back().number));
    EXPECT_TRUE(std::isnan(of(nan).back().number));
}

TEST(BodyBuilder, DtypesAndOperandsDistinguishBodies) {
    const auto of = [](DType dtype, std::vector<int> operands) {
        return Body(std::vector<Step>{{"sub", std::move(operands), dtype, 0}});
    };
    EXPECT_FALSE(of(DType::f32, {0, 1}) == of(DType::f32, {1, 0}));
    EXPECT_FALSE(of(DType::f32, {0, 1}) == of(DType::f16, {0, 1}));
}

}  // namespace
}  // namespace cairn::fusion
