#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/graph/composites/composite_values.hpp"

namespace cairn::test {
namespace {

void expect_formula(Tensor (*composite)(const Operand&), const std::function<double(double)>& formula) {
    const Numbers numbers = {-30, -3, -1, -0.25, 0, 0.5, 1, 2, 7, 40};
    Trial trial;
    const interpreter::Value value = trial.value_of(composite(trial.input("x", {2, 5}, numbers)));
    ASSERT_EQ(value.shape, (std::vector<std::int64_t>{2, 5}));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        EXPECT_NEAR(value.data[i], formula(numbers[i]), 1e-14 * (1 + std::fabs(numbers[i]))) << numbers[i];
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Activations, MatchTheirFormulas) {
    expect_formula(relu, [](double x) { return x > 0 ? x : 0; });
    expect_formula(sigmoid, logistic);
    expect_formula(silu, [](double x) { return x * logistic(x); });
    expect_formula(gelu, [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); });
    expect_formula(gelu_tanh, [](double x) {
        return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * std::pow(x, 3))));
    });
}

}  // namespace
}  // namespace cairn::test
