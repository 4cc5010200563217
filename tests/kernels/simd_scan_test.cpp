#include "kernels/cpu/table.hpp"
#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cairn::test {
namespace {

class SimdScan : public SimdLevel {};

// One line, a few, whole squares, and columns; special numbers are at both ends of a block.
TEST_P(SimdScan, AddsInTheOrderOfTheAxis) {
    for (const char* text :
         {"cumsum axis=(-1) | f32[140] -> f32[140]", "cumsum axis=(-1) | f64[7,140] -> f64[7,140]",
          "cumsum axis=(-1) | f16[40,140] -> f16[40,140]", "cumsum axis=(-2) | f32[140,70] -> f32[140,70]"}) {
        SimdCase c(text);
        const std::int64_t columns = std::string(text).find("(-2)") != std::string::npos ? 70 : 1;
        const auto at = [&](std::int64_t i) { return i * columns; };
        for (std::int64_t i = 0; i < c.inputs[0].size(); ++i) c.inputs[0].set(i, -0.0);
        EXPECT_EQ(c.run(kernel("cumsum"), 2), "");
        EXPECT_TRUE(std::signbit(c.outputs[0].get(at(139)))) << text << ": only zeros below zero";
        c.inputs[0].set(at(3), 1);
        c.inputs[0].set(at(130), -INFINITY);
        c.inputs[0].set(at(135), INFINITY);
        EXPECT_EQ(c.run(kernel("cumsum"), 2), "");
        EXPECT_TRUE(std::signbit(c.outputs[0].get(at(2)))) << text;
        EXPECT_EQ(c.outputs[0].get(at(129)), 1) << text;
        EXPECT_EQ(c.outputs[0].get(at(134)), -INFINITY) << text;
        EXPECT_TRUE(std::isnan(c.outputs[0].get(at(139)))) << text;
    }
}

// 1 is lost when added to 2^60 even in f64, unless it comes later: any other order of additions would show.
TEST_P(SimdScan, RoundsOnlyTermsBeforeALargeTerm) {
    SimdCase c("cumsum axis=(-1) | f64[8,12] -> f64[8,12]");
    const double line[] = {1, 0x1p60, -0x1p60, 1, 0x1p60, 1, 1, -0x1p60, 1, 1, 1, 1},
                 sums[] = {1, 0x1p60, 0, 1, 0x1p60, 0x1p60, 0x1p60, 0, 1, 2, 3, 4};
    for (std::int64_t i = 0; i < 96; ++i) c.inputs[0].set(i, line[i % 12]);
    EXPECT_EQ(c.run(kernel("cumsum"), 2), "");
    for (std::int64_t i = 0; i < 96; ++i) EXPECT_EQ(c.outputs[0].get(i), sums[i % 12]) << i;
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdScan, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

const Kernel& argsort() {
    static const std::vector<Kernel> kernels = [] {
        std::vector<Kernel> made;
        kernels::cpu::add_argsort(made);
        return made;
    }();
    return find(kernels, "argsort");
}

// Lines sorted by comparison, and by radix sort: NaNs are largest and equal, zeros are equal, equal elements keep their
// order.
TEST(SimdArgsort, OrdersSpecialNumbers) {
    const double odd[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1, -1, 1, -NAN, 6e-8, -6e-8, 60000, -60000, 2};
    for (const std::string dtype : {"f64", "f32", "f16", "bf16"})
        for (const int size : {14, 700})
            for (const int descending : {0, 1}) {
                const std::string n = std::to_string(size);
                SimdCase c("argsort axis=(-1) descending=(" + std::to_string(descending) + ") | " + dtype + "[" + n +
                           "] -> i32[" + n + "]");
                for (int i = 0; i < size; ++i) c.inputs[0].set(i, odd[i * 11 % 14]);
                EXPECT_EQ(c.run(argsort()), "");
                std::vector<int> order(static_cast<std::size_t>(size));
                std::iota(order.begin(), order.end(), 0);
                const auto less = [&](int i, int j) {
                    const double a = c.inputs[0].get(i), b = c.inputs[0].get(j);
                    return std::isnan(b) ? !std::isnan(a) : a < b;
                };
                std::stable_sort(order.begin(), order.end(),
                                 [&](int i, int j) { return descending == 1 ? less(j, i) : less(i, j); });
                for (int i = 0; i < size; ++i)
                    ASSERT_EQ(c.outputs[0].get(i), order[static_cast<std::size_t>(i)]) << dtype << " " << n << " " << i;
            }
}

}  // namespace
}  // namespace cairn::test
