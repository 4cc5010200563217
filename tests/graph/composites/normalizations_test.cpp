#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/graph/composites/composite_values.hpp"

namespace cairn::test {
namespace {

constexpr std::size_t rows = 4, columns = 6;

struct Row {
    Numbers x;
    double mean = 0, variance = 0, most = 0, exps = 0;
    Row(const Numbers& all, std::size_t row)
        : x(all.begin() + static_cast<std::ptrdiff_t>(row * columns),
            all.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns)) {
        mean = std::accumulate(x.begin(), x.end(), 0.0) / columns;
        most = *std::max_element(x.begin(), x.end());
        for (const double value : x) {
            variance += (value - mean) * (value - mean) / columns;
            exps += std::exp(value - most);
        }
    }
};

class Normalizations : public testing::Test {
protected:
    template <typename F>
    void expect(const Tensor& tensor, F formula) {
        const interpreter::Value value = trial.value_of(tensor);
        ASSERT_EQ(value.data.size(), rows * columns);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                EXPECT_NEAR(value.data[i * columns + j], formula(Row(numbers, i), j), 1e-13) << i << ", " << j;
    }
    Trial trial;
    Numbers numbers = some_numbers(rows * columns), scale = some_numbers(columns, 2), shift = some_numbers(columns, 3);
    Dim n = trial.symbol("N", 1, 9, rows), d = trial.symbol("D", 1, 9, columns);
    Tensor x = trial.input("x", DType::f64, {n, d}, {rows, columns}, numbers);
    Tensor gamma = trial.input("gamma", DType::f64, {d}, {columns}, scale);
    Tensor beta = trial.input("beta", DType::f64, {d}, {columns}, shift);
};

TEST_F(Normalizations, Softmax) {
    expect(softmax(x), [](const Row& row, std::size_t j) { return std::exp(row.x[j] - row.most) / row.exps; });
    expect(log_softmax(x), [](const Row& row, std::size_t j) { return row.x[j] - row.most - std::log(row.exps); });
    expect(transpose(softmax(transpose(x, {1, 0}), 0), {1, 0}),
           [](const Row& row, std::size_t j) { return std::exp(row.x[j] - row.most) / row.exps; });
}

TEST_F(Normalizations, SoftmaxOfHugeScoresIsFinite) {
    const interpreter::Value value = trial.value_of(softmax(trial.input("big", {3}, {1e300, 1e300, -1e300})));
    EXPECT_EQ(value.data, (Numbers{0.5, 0.5, 0}));
}

TEST_F(Normalizations, LayerNormAndRmsNorm) {
    expect(layer_norm(x, gamma, beta, 0.5), [&](const Row& row, std::size_t j) {
        return (row.x[j] - row.mean) / std::sqrt(row.variance + 0.5) * scale[j] + shift[j];
    });
    expect(rms_norm(x, gamma, 0.25), [&](const Row& row, std::size_t j) {
        double squares = 0;
        for (const double value : row.x) squares += value * value;
        return row.x[j] / std::sqrt(squares / columns + 0.25) * scale[j];
    });
}

TEST_F(Normalizations, GammaDefaultsToOneAndBetaToZero) {
    const auto normal = [](const Row& row, std::size_t j) {
        return (row.x[j] - row.mean) / std::sqrt(row.variance + 0.5);
    };
    expect(layer_norm(x, 0.5), normal);
    expect(layer_norm(x, gamma, 0.5), [&](const Row& row, std::size_t j) { return normal(row, j) * scale[j]; });
    expect(rms_norm(x - mean(x, {-1}, true), 0.5), normal);
}

TEST_F(Normalizations, AlongAnotherAxis) {
    const Tensor transposed = transpose(x, {1, 0});
    expect(transpose(layer_norm(transposed, gamma, beta, 0.5, 0), {1, 0}), [&](const Row& row, std::size_t j) {
        return (row.x[j] - row.mean) / std::sqrt(row.variance + 0.5) * scale[j] + shift[j];
    });
    expect(transpose(rms_norm(transposed - mean(transposed, {0}, true), gamma, 0.5, -2), {1, 0}),
           [&](const Row& row, std::size_t j) {
               return (row.x[j] - row.mean) / std::sqrt(row.variance + 0.5) * scale[j];
           });
}

TEST_F(Normalizations, MeanAndVariance) {
    double mean_of_all = 0, variance_of_all = 0;
    for (const double value : numbers) mean_of_all += value / (rows * columns);
    for (const double value : numbers) variance_of_all += std::pow(value - mean_of_all, 2) / (rows * columns);
    EXPECT_NEAR(trial.value_of(mean(x)).data.at(0), mean_of_all, 1e-14);
    EXPECT_NEAR(trial.value_of(variance(x)).data.at(0), variance_of_all, 1e-14);
    EXPECT_EQ(trial.value_of(mean(x)).shape, std::vector<std::int64_t>{});
    const interpreter::Value by_row = trial.value_of(variance(x, {-1}, true));
    EXPECT_EQ(by_row.shape, (std::vector<std::int64_t>{rows, 1}));
    for (std::size_t i = 0; i < rows; ++i) EXPECT_NEAR(by_row.data[i], Row(numbers, i).variance, 1e-14);
    EXPECT_EQ(to_string(mean(x, {0}).shape()), "[D]");
}

TEST_F(Normalizations, AConstantSizeIsANumber) {
    Graph g;
    mean(g.input("x", DType::f32, {4, 3}), {-1});
    EXPECT_NE(to_string(g).find("constant 3 : f32[]"), std::string::npos);
    EXPECT_EQ(to_string(g).find("iota"), std::string::npos);
}

}  // namespace
}  // namespace cairn::test
