#include <gtest/gtest.h>

#include <cmath>

#include "tests/graph/composites/composite_values.hpp"

namespace cairn::test {
namespace {

TEST(Projections, Linear) {
    const Numbers x = some_numbers(6), w = some_numbers(12, 2), b = some_numbers(4, 3);
    Trial trial;
    const Tensor tx = trial.input("x", {2, 3}, x), tw = trial.input("w", {3, 4}, w), tb = trial.input("b", {4}, b);
    const interpreter::Value with = trial.value_of(linear(tx, tw, tb)), without = trial.value_of(linear(tx, tw));
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < 3; ++k) sum += x[i * 3 + k] * w[k * 4 + j];
            EXPECT_NEAR(without.data[i * 4 + j], sum, 1e-14);
            EXPECT_NEAR(with.data[i * 4 + j], sum + b[j], 1e-14);
        }
}

TEST(Projections, Embedding) {
    Trial trial;
    const Tensor table = trial.input("table", {3, 2}, {0, 1, 10, 11, 20, 21});
    const interpreter::Value value =
        trial.value_of(embedding(table, trial.input("ids", {2, 2}, {2, 0, 1, 2}, DType::i32)));
    EXPECT_EQ(value.shape, (std::vector<std::int64_t>{2, 2, 2}));
    EXPECT_EQ(value.data, (Numbers{20, 21, 0, 1, 10, 11, 20, 21}));
}

// x as [heads, T, D] rotated by the angles of `positions`, by the definition.
Numbers rotated(const Numbers& x, const Numbers& positions, std::size_t heads, std::size_t size, double base) {
    Numbers result(x.size());
    const std::size_t count = positions.size(), half = size / 2;
    for (std::size_t h = 0; h < heads; ++h)
        for (std::size_t p = 0; p < count; ++p)
            for (std::size_t i = 0; i < half; ++i) {
                const double angle =
                    positions[p] * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(size));
                const std::size_t at = (h * count + p) * size + i;
                result[at] = x[at] * std::cos(angle) - x[at + half] * std::sin(angle);
                result[at + half] = x[at + half] * std::cos(angle) + x[at] * std::sin(angle);
            }
    return result;
}

TEST(Projections, Rope) {
    const Numbers x = some_numbers(2 * 3 * 8), positions = {0, 5, 1000};
    for (const double base : {10000.0, 50.0}) {
        Trial trial;
        const Dim t = trial.symbol("T", 1, 4, 3);
        const Tensor tx = trial.input("x", DType::f64, {2, t, 8}, {2, 3, 8}, x);
        const interpreter::Value value =
            trial.value_of(rope(tx, trial.input("at", DType::i32, {t}, {3}, positions), base));
        const Numbers expected = rotated(x, positions, 2, 8, base);
        for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(value.data[i], expected[i], 1e-12) << i;
    }
}

TEST(Projections, RopeKeepsTheAnglesOfNarrowFloats) {
    Trial trial;
    const Tensor x = trial.input("x", {1, 2}, {1, 0}, DType::bf16);
    const interpreter::Value value = trial.value_of(rope(x, trial.input("at", {1}, {1001}, DType::i32)));
    EXPECT_NEAR(value.data[0], std::cos(1001.0), 4e-3) << "1001 is no bf16";
    EXPECT_NEAR(value.data[1], std::sin(1001.0), 4e-3);
}

TEST(Projections, RopeAcceptsPositionsOfEachRow) {
    const Numbers x = some_numbers(2 * 2 * 4), first = {3, 4}, second = {0, 9};
    Trial trial;
    const Tensor tx = trial.input("x", {2, 2, 4}, x);
    const interpreter::Value value = trial.value_of(rope(tx, trial.input("at", {2, 2}, {3, 4, 0, 9}, DType::i64)));
    const Numbers a = rotated(x, first, 2, 4, 10000), b = rotated(x, second, 2, 4, 10000);
    for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(value.data[i], i < 8 ? a[i] : b[i], 1e-13);
}

}  // namespace
}  // namespace cairn::test
