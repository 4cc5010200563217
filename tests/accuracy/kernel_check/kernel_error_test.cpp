#include "accuracy/kernel_check/kernel_error.hpp"

#include "cairn/check.hpp"
#include "device/cpu/cpu_backend.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace cairn::kernel_check {
namespace {

constexpr double infinite_error = std::numeric_limits<double>::infinity();

interpreter::Value floats(std::vector<double> elements) {
    const auto count = static_cast<std::int64_t>(elements.size());
    return {DType::f32, {count}, std::move(elements), {}};
}

TEST(KernelErrorNorms, BothNormsAreRelativeToTheReference) {
    const ErrorNorms found = error_norms(floats({3, 4.5}), floats({3, 4}));
    EXPECT_NEAR(found.relative, 0.5 / 5, 1e-15);
    EXPECT_NEAR(found.largest, 0.5 / 4, 1e-15);
    EXPECT_NEAR(found.combined(), 0.1, 1e-15);
    EXPECT_NEAR(error_norms(floats({1, 0}), floats({1, 1e-6})).largest, 1e-6 * std::sqrt(2), 1e-12)
        << "small elements are compared by the root mean square";
    EXPECT_EQ(error_norms(floats({3, 4}), floats({3, 4})).combined(), 0);
    EXPECT_EQ(error_norms(floats({0, 1e-30}), floats({0, 0})).combined(), infinite_error);
}

TEST(KernelErrorNorms, AFewLargeErrorsCountATenth) {
    std::vector<double> right(10'000, 1), off = right;
    off[17] = 1.5;
    const ErrorNorms found = error_norms(floats(off), floats(right));
    EXPECT_NEAR(found.relative, 0.005, 1e-9);
    EXPECT_NEAR(found.largest, 0.5, 1e-9);
    EXPECT_NEAR(found.combined(), 0.05, 1e-9);
}

TEST(KernelErrorNorms, NonFiniteElementsMustBeEqual) {
    const double nan = std::nan("");
    EXPECT_EQ(error_norms(floats({nan, infinite_error, 1}), floats({nan, infinite_error, 1})).combined(), 0);
    EXPECT_EQ(error_norms(floats({infinite_error, 1}), floats({4e38, 1})).combined(), 0) << "too large for f32";
    EXPECT_EQ(error_norms(floats({nan}), floats({1})).combined(), infinite_error);
    EXPECT_EQ(error_norms(floats({1}), floats({nan})).combined(), infinite_error);
    EXPECT_EQ(error_norms(floats({infinite_error}), floats({1})).combined(), infinite_error);
    EXPECT_EQ(error_norms(floats({infinite_error}), floats({-infinite_error})).combined(), infinite_error);
    EXPECT_NEAR(error_norms(floats({nan, nan, 2, 1e-6}), floats({nan, nan, 2, 0})).largest, 1e-6 / std::sqrt(2), 1e-12)
        << "the root mean square is that of the numbers";
}

TEST(KernelErrorNorms, IntegersAndShapesMustBeEqual) {
    const interpreter::Value one{DType::i32, {1}, {}, {1}}, two{DType::i32, {1}, {}, {2}};
    EXPECT_EQ(error_norms(one, one).combined(), 0);
    EXPECT_EQ(error_norms(two, one).combined(), infinite_error);
    EXPECT_EQ(error_norms(floats({1}), floats({1, 1})).combined(), infinite_error);
}

double off_by = 0, promised = 0;

void run(const Args& args, Team& team) {
    if (team.rank() != 0) return;
    std::int64_t count = 1;
    for (int axis = 0; axis < args.outputs[0].rank; ++axis) count *= args.outputs[0].shape[axis];
    const auto* x = reinterpret_cast<const float*>(args.inputs[0].data);
    auto* y = reinterpret_cast<float*>(args.outputs[0].data);
    for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(-x[i] * (1 + off_by));
}

Kernel negation() {
    Kernel kernel;
    kernel.id = "test.neg@1";
    kernel.definition = "neg";
    kernel.accepts = [](const Problem& problem) -> Refusal {
        for (const auto* list : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *list)
                if (tensor.dtype != DType::f32 || !tensor.is_dense()) return "needs dense f32";
        return {};
    };
    kernel.run = run;
    kernel.error = [](const Problem&) { return promised; };
    kernel.samples = {"neg | f32[N,16] -> f32[N,16] where N in 1..40"};
    return kernel;
}

TEST(KernelErrorNorms, AKernelIsComparedWithItsDefinition) {
    const auto backend = device::cpu_backend(2);
    auto symbols = Symbols::create();
    const Problem problem = parse_problem("neg | f32[5,16] -> f32[5,16]", *symbols);
    off_by = 1e-2;
    const ErrorNorms found = error_norms(negation(), problem, {}, *backend);
    EXPECT_NEAR(found.relative, 1e-2, 1e-6);
    EXPECT_NEAR(found.largest, 1e-2, 1e-6) << "of elements above the root mean square";
    EXPECT_TRUE(is_comparable(problem));
    const Problem packed = parse_problem("neg | f32[5,16]@mine -> f32[5,16]", *symbols);
    EXPECT_FALSE(is_comparable(packed)) << "nobody knows the layout";
}

std::string first_fault(double off, double promise) {
    off_by = off;
    promised = promise;
    const KernelReport report = check_kernel(negation(), {});
    EXPECT_GT(report.variations, 0);
    return report.faults.empty() ? "" : report.faults.front();
}

TEST(KernelErrorNorms, AKernelMustBeWithinItsStatedError) {
    EXPECT_EQ(first_fault(1e-3, 2e-3), "");
    EXPECT_NE(first_fault(1e-3, 0).find("is wrong"), std::string::npos);
    EXPECT_NE(first_fault(1e-3, 5e-4).find("relative error 0.001, largest 0.001, stated 0.0005"), std::string::npos)
        << first_fault(1e-3, 5e-4);
    EXPECT_NE(first_fault(0, std::nan("")).find("states an invalid error bound"), std::string::npos);
}

TEST(KernelErrorNorms, OperationsOfTheReferenceAreCounted) {
    auto symbols = Symbols::create();
    const auto steps = [&](const char* text) { return reference_operation_count(parse_problem(text, *symbols), {}); };
    EXPECT_GE(steps("matmul | f32[5,16] f32[16,3] -> f32[5,3]"), 5 * 16 * 3);
    EXPECT_LE(steps("matmul | f32[5,16] f32[16,3] -> f32[5,3]"), 5 * 16 * 3 + 5 * 16 + 16 * 3);
    EXPECT_GE(steps("sum axes=(-1) | f32[5,16] -> f32[5]"), 5 * 16);
}

}  // namespace
}  // namespace cairn::kernel_check
