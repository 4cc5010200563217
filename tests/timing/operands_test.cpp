#include "timing/operands.hpp"

#include "tests/timing/problem.hpp"
#include "types/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace cairn::timing {
namespace {

using test::problem;

Operands operands(const std::string& text, std::size_t rotation = 0, const Kernel& kernel = {},
                  const std::vector<Layout>& layouts = {}) {
    return {problem(text), kernel, layouts, 1, rotation};
}

template <typename T>
std::vector<T> elements(const TensorArg& arg, std::size_t count) {
    const T* data = reinterpret_cast<const T*>(arg.data);
    return {data, data + count};
}

TEST(Operands, FloatsAreNormalAndTheSameEachTime) {
    const Operands first = operands("exp | f32[4096] -> f32[4096]"), second = operands("exp | f32[4096] -> f32[4096]");
    const auto values = elements<float>(first.args(0).inputs[0], 4096);
    EXPECT_EQ(values, elements<float>(second.args(0).inputs[0], 4096));
    double sum = 0, squares = 0;
    for (const float value : values) sum += value, squares += value * value;
    EXPECT_NEAR(sum / 4096, 0, 0.05);
    EXPECT_NEAR(squares / 4096, 1, 0.1);
}

TEST(Operands, OperandsDiffer) {
    const Operands made = operands("add | f32[64] f32[64] -> f32[64]");
    EXPECT_NE(elements<float>(made.args(0).inputs[0], 64), elements<float>(made.args(0).inputs[1], 64));
}

TEST(Operands, HalvesAreTheSameNumbersRounded) {
    const Operands wide = operands("exp | f64[64] -> f64[64]"), f16 = operands("exp | f16[64] -> f16[64]"),
                   bf16 = operands("exp | bf16[64] -> bf16[64]");
    for (std::size_t i = 0; i < 64; ++i) {
        const double value = elements<double>(wide.args(0).inputs[0], 64)[i];
        EXPECT_EQ(elements<std::uint16_t>(f16.args(0).inputs[0], 64)[i], types::f64_to_f16(value));
        EXPECT_EQ(elements<std::uint16_t>(bf16.args(0).inputs[0], 64)[i], types::f64_to_bf16(value));
    }
}

/// The largest and the smallest of the indices that operand `input` holds.
template <typename T>
std::pair<T, T> range(const std::string& text, int input, std::size_t count) {
    const Operands made = operands(text);
    const auto values = elements<T>(made.args(0).inputs[input], count);
    return {*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end())};
}

TEST(Operands, IndicesAreLegalAndReachTheWholeAxis) {
    using Range = std::pair<std::int64_t, std::int64_t>;
    EXPECT_EQ(range<std::int64_t>("gather axis=(-2) | f32[3,50] i64[999] -> f32[999,50]", 1, 999), Range(0, 2));
    EXPECT_EQ(range<std::int64_t>("gather axis=(-1) | f32[50,1] i64[9] -> f32[50,9]", 1, 9), Range(0, 0));
    EXPECT_EQ(range<std::int64_t>("embedding | f32[30,4] i64[999] -> f32[999,4]", 1, 999), Range(0, 29));
    EXPECT_EQ(range<std::int64_t>("scatter axis=(-1) | f32[4,5] i64[999] f32[4,999] -> f32[4,5]", 1, 999), Range(0, 4));
    EXPECT_EQ(range<std::int64_t>("take_along_axis axis=(-1) | f32[2,3] i64[2,999] -> f32[2,999]", 1, 1998),
              Range(0, 2));
    EXPECT_EQ(range<std::int64_t>("take_along_axis axis=(-2) | f32[30,1] i64[999,1] -> f32[999,1]", 1, 999),
              Range(0, 29));
}

TEST(Operands, OtherIntegersAreSmallAndBooleansTrue) {
    EXPECT_EQ(range<std::int32_t>("neg | i32[999] -> i32[999]", 0, 999), (std::pair<std::int32_t, std::int32_t>(0, 7)));
    EXPECT_EQ(range<std::int8_t>("neg | i8[999] -> i8[999]", 0, 999), (std::pair<std::int8_t, std::int8_t>(0, 7)));
    EXPECT_EQ(range<std::uint8_t>("neg | u8[999] -> u8[999]", 0, 999), (std::pair<std::uint8_t, std::uint8_t>(0, 7)));
    EXPECT_EQ(range<std::uint8_t>("logical_not | bool[99] -> bool[99]", 0, 99),
              (std::pair<std::uint8_t, std::uint8_t>(1, 1)));
}

TEST(Operands, OnlyBoundOnesAreCopied) {
    const char* text = "matmul | f32[4,16] f32[16,16]! -> f32[4,16]";  // 1024 bytes bound, and a line between
    EXPECT_EQ(operands(text).copies(), 1);
    EXPECT_EQ(operands("exp | f32[4] -> f32[4]", 1 << 20).copies(), 1) << "nothing is bound";
    EXPECT_EQ(operands(text, 1 << 20).copies(), 16) << "at most";
    const Operands made = operands(text, 3 * 1088);
    ASSERT_EQ(made.copies(), 3);
    std::set<const std::byte*> free, bound, results;
    for (std::int64_t call = 0; call < 7; ++call) {
        const Args& args = made.args(call);
        free.insert(args.inputs[0].data);
        bound.insert(args.inputs[1].data);
        results.insert(args.outputs[0].data);
        EXPECT_EQ(elements<float>(args.inputs[1], 256), elements<float>(made.args(0).inputs[1], 256));
    }
    EXPECT_EQ(free.size(), 1U);
    EXPECT_EQ(bound.size(), 3U);
    EXPECT_EQ(results.size(), 1U);
    EXPECT_EQ(&made.args(3), &made.args(0)) << "around and around";
}

/// Bytes between the first and the second operand.
std::ptrdiff_t room_for(const std::string& desc) {
    const Operands made = operands("copy | " + desc + " -> f32[4]");
    return made.args(0).outputs[0].data - made.args(0).inputs[0].data;
}

TEST(Operands, MemoryReachesToTheLastElementThatStridesReach) {
    EXPECT_GE(room_for("f32[3,4]:(100,1)"), 204 * 4);
    EXPECT_LT(room_for("f32[3,4]:(0,1)"), 3 * 4 * 4 + 128);
    EXPECT_LT(room_for("f32[1000,1000]:(0,0)"), 4 + 128);
    EXPECT_EQ(room_for("f32[0,1000]"), 64) << "no elements, an address of its own";
    EXPECT_GE(room_for("f32[]"), 4);
}

TEST(Operands, ShapesStridesAndAttributesAreHandedOver) {
    const Operands made = operands("slice start=(1,0) size=(2,3) step=(1,2) | f32[3,6] -> f32[2,3]");
    const Args& args = made.args(0);
    EXPECT_EQ(args.inputs[0].rank, 2);
    EXPECT_EQ(std::vector<std::int64_t>(args.inputs[0].shape, args.inputs[0].shape + 2),
              (std::vector<std::int64_t>{3, 6}));
    EXPECT_EQ(std::vector<std::int64_t>(args.inputs[0].strides, args.inputs[0].strides + 2),
              (std::vector<std::int64_t>{6, 1}));
    EXPECT_EQ(std::vector<std::int64_t>(args.dims, args.dims + 6), (std::vector<std::int64_t>{1, 0, 2, 3, 1, 2}));
}

TEST(Operands, PackedOperandsHaveTheBytesOfTheirLayout) {
    const std::vector<Layout> layouts = {
        {"panel", [](const TensorDesc& plain) { return plain.shape[0] * 1000; }, "panel_t"}};
    const auto bytes = [&](const char* text) {
        const Operands made = operands(text, 0, {}, layouts);
        return made.args(0).outputs[0].data - made.args(0).inputs[0].data;
    };
    EXPECT_EQ(bytes("copy | f32[3,7]@panel! -> f32[4]"), 3008 + 64);
    EXPECT_EQ(bytes("copy | f32[3,7]@panel_t! -> f32[4]"), 7040 + 64) << "of the transposed matrix";
}

TEST(Operands, AKernelFindsItsWorkspaceAndWhatItPrepared) {
    Kernel kernel;
    kernel.workspace = [](const Problem&, int threads) { return Dim(1000 * threads); };
    kernel.prepare = [](const Problem&, int) -> std::shared_ptr<const void> { return std::make_shared<int>(7); };
    const Operands made(problem("exp | f32[4] -> f32[4]"), kernel, {}, 3, 0);
    EXPECT_GE(made.args(0).inputs[0].data - made.args(0).workspace, 3000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made.args(0).workspace) % 64, 0U);
    EXPECT_EQ(*static_cast<const int*>(made.args(0).prepared), 7);
    EXPECT_EQ(operands("exp | f32[4] -> f32[4]").args(0).prepared, nullptr);
}

}  // namespace
}  // namespace cairn::timing
