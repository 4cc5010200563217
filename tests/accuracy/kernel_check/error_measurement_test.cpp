#include "accuracy/kernel_check/error_measurement.hpp"

#include "cairn/cairn.hpp"
#include "device/cpu/cpu_backend.hpp"
#include "tests/autotune/policy/inexact_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace cairn::kernel_check {
namespace {

std::string compared(const std::string& text, std::vector<std::int64_t> sizes) {
    const auto symbols = Symbols::create();
    const auto found = comparison_problem(parse_problem(text, *symbols), std::move(sizes), {});
    return found ? to_string(*found) : "nothing";
}

TEST(ErrorMeasurementTest, LargeProblemsAreComparedAtSmallerSizes) {
    EXPECT_EQ(compared("matmul | f32[4,64] f32[64,32] -> f32[4,32]", {}), "matmul | f32[4,64] f32[64,32] -> f32[4,32]");
    const std::string wide = "matmul | f32[N,1024] f32[1024,8192] -> f32[N,8192] where N in ";
    EXPECT_EQ(compared(wide + "1..4096", {9}), "matmul | f32[9,1024] f32[1024,8192] -> f32[9,8192]");
    EXPECT_EQ(compared(wide + "1..4096", {64}), "matmul | f32[8,1024] f32[1024,8192] -> f32[8,8192]");
    EXPECT_EQ(compared(wide + "1024..4096", {2000}), "nothing") << "it would take long at any size";
    EXPECT_EQ(compared("matmul | f32[4,64] f32[64,32]@mine -> f32[4,32]", {}), "nothing") << "a form unknown";
}

ErrorMeasurement measured(const Kernel& kernel, int threads = 1) {
    const auto symbols = Symbols::create();
    const auto backend = device::cpu_backend(threads);
    return measure_error(kernel, parse_problem("matmul | f32[4,64] f32[64,32] -> f32[4,32]", *symbols), 5e-3, {},
                         *backend);
}

TEST(ErrorMeasurementTest, TheErrorIsMeasuredAgainstTheDefinition) {
    const ErrorMeasurement figures = measured(test::inexact_product());
    EXPECT_GT(figures.relative, 5e-4);
    EXPECT_LT(figures.relative, 4e-3);
    EXPECT_GE(figures.largest, figures.relative);
    EXPECT_EQ(figures.promised, 5e-3);
    EXPECT_EQ(figures.inputs, "uniform");
    EXPECT_EQ(figures.compared, "matmul | f32[4,64] f32[64,32] -> f32[4,32]");
    EXPECT_EQ(measured(test::inexact_product(), 2).relative, figures.relative);
}

TEST(ErrorMeasurementTest, AFailureHasAnInfiniteError) {
    Kernel kernel = test::inexact_product();
    kernel.run = [](const Args&, Team& team) { team.fail("no"); };
    EXPECT_TRUE(std::isinf(measured(kernel).counted()));
    kernel.run = [](const Args&, Team&) { throw std::runtime_error("no"); };
    EXPECT_TRUE(std::isinf(measured(kernel).counted()));
    kernel.run = [](const Args& args, Team&) { args.outputs[0].data[-1] = std::byte{1}; };
    EXPECT_TRUE(std::isinf(measured(kernel).counted())) << "it writes before its output";
}

}  // namespace
}  // namespace cairn::kernel_check
