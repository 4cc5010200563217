#include "autotune/measurement/operands.hpp"

#include "cairn/composites.hpp"
#include "device/cpu/cpu_backend.hpp"
#include "graph/types/half.hpp"
#include "tests/autotune/database/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cairn::autotune {
namespace {

using test::problem;

/// User-defined definitions that use an index operand.
std::vector<Definition> lookups() {
    Definition embedding, lookup;
    embedding.name = "embedding";
    embedding.build = [](std::span<const Tensor> x, const Attributes&) {
        return std::vector<Tensor>{cairn::embedding(x[0], x[1])};
    };
    lookup.name = "lookup";
    lookup.build = [](std::span<const Tensor> x, const Attributes&) {
        return std::vector<Tensor>{gather(gather(x[0], x[1], 0), cast(x[2], DType::i64), 1)};
    };
    return {embedding, lookup};
}

/// Operands and their memory, as passed to the first call.
struct Made {
    explicit Made(const std::string& text, std::size_t rotation = 0, const Kernel& kernel = {},
                  const std::vector<Layout>& layouts = {}, int threads = 1, bool cold = true)
        : memory(std::make_shared<OperandMemory>(*cpu, rotation, 8192)),
          operands(problem(text), kernel, {lookups(), layouts, {}}, threads, memory, cold),
          calls(operands),
          args(calls.next()) {}

    std::unique_ptr<device::Backend> cpu = device::cpu_backend(1);
    std::shared_ptr<OperandMemory> memory;
    Operands operands;
    RotatingArgs calls;
    const Args& args;
};

template <typename T>
std::vector<T> elements(const TensorArg& arg, std::size_t count) {
    const T* data = reinterpret_cast<const T*>(arg.data);
    return {data, data + count};
}

/// Mean and mean square.
std::pair<double, double> moments(const std::vector<float>& values) {
    double sum = 0, squares = 0;
    for (const float value : values) sum += value, squares += value * value;
    return {sum / static_cast<double>(values.size()), squares / static_cast<double>(values.size())};
}

TEST(Operands, FloatsAreNormalAndReproducible) {
    for (const char* text : {"exp | f32[4000] -> f32[4000]", "exp | f32[4000]! -> f32[4000]"}) {
        const Made first(text), second(text);
        const auto values = elements<float>(first.args.inputs[0], 4000);
        EXPECT_EQ(values, elements<float>(second.args.inputs[0], 4000));
        const auto [mean, square] = moments(values);
        EXPECT_NEAR(mean, 0, 0.05 / 8);
        EXPECT_NEAR(square * 64, 1, 0.1);
    }
}

// As in masks of padded batches: the last quarter of each row is hidden, whatever the strides.
TEST(Operands, BooleansMaskTheLastQuarterOfEachRow) {
    const std::string attention = " scale=1 masked_score=-1 | f32[2,1,3,8] f32[2,1,6,8] f32[2,1,6,8] bool[2,6]";
    const auto marks = [](const std::string& text, std::size_t operand, std::size_t count) {
        const Made made(text);
        std::string all;
        for (const std::uint8_t mark : elements<std::uint8_t>(made.args.inputs[operand], count))
            all += mark == 0 ? '.' : mark == 1 ? '1' : '?';
        return all;
    };
    EXPECT_EQ(marks("attention causal=(0)" + attention + " -> f32[2,1,3,8]", 3, 12), "11111.11111.");
    EXPECT_EQ(marks("attention causal=(0)" + attention + ":(12,2) -> f32[2,1,3,8]", 3, 23), "1111111111..1111111111.");
    EXPECT_EQ(marks("attention causal=(0) hides=(1)" + attention + " -> f32[2,1,3,8]", 3, 12), ".....1.....1");
    EXPECT_EQ(marks("logical_not | bool[9] -> bool[9]", 0, 9), "1111111..");
    EXPECT_EQ(marks("logical_not | bool[] -> bool[]", 0, 1), "1");
}

TEST(Operands, OperandsDiffer) {
    const Made made("add | f32[4096] f32[4096] -> f32[4096]");
    EXPECT_NE(elements<float>(made.args.inputs[0], 4096), elements<float>(made.args.inputs[1], 4096));
}

TEST(Operands, NumbersOfEveryDtypeAreFiniteAndNotSubnormal) {
    const Made f64("exp | f64[4000] -> f64[4000]"), f16("exp | f16[4000] -> f16[4000]"),
        bf16("exp | bf16[4000] -> bf16[4000]");
    for (const double value : elements<double>(f64.args.inputs[0], 4000)) EXPECT_TRUE(std::isnormal(value));
    std::vector<float> wide;
    for (std::size_t i = 0; i < 4000; ++i) {
        wide.push_back(types::bf16_to_f32(elements<std::uint16_t>(bf16.args.inputs[0], 4000)[i]));
        const auto half = elements<std::uint16_t>(f16.args.inputs[0], 4000)[i];
        EXPECT_TRUE(std::isfinite(types::f16_to_f32(half)));
        EXPECT_GT(std::abs(types::f16_to_f32(half)), 6.2e-5) << "the least normal one";
    }
    const auto [mean, square] = moments(wide);
    EXPECT_NEAR(mean, 0, 0.05 / 8);
    EXPECT_NEAR(square * 64, 1, 0.1);
}

/// The largest and the smallest of the indices in operand `input`.
template <typename T>
std::pair<T, T> range(const std::string& text, int input, std::size_t count) {
    const Made made(text);
    const auto values = elements<T>(made.args.inputs[input], count);
    return {*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end())};
}

TEST(Operands, IndicesAreValidAndCoverTheAxis) {
    using Range = std::pair<std::int64_t, std::int64_t>;
    EXPECT_EQ(range<std::int64_t>("gather axis=(-2) | f32[3,50] i64[999] -> f32[999,50]", 1, 999), Range(0, 2));
    EXPECT_EQ(range<std::int64_t>("gather axis=(-1) | f32[50,1] i64[9] -> f32[50,9]", 1, 9), Range(0, 0));
    EXPECT_EQ(range<std::int64_t>("embedding | f32[30,4] i64[999] -> f32[999,4]", 1, 999), Range(0, 29));
    EXPECT_EQ(range<std::int64_t>("scatter axis=(-1) | f32[4,5] i64[999] f32[4,999] -> f32[4,5]", 1, 999), Range(0, 4));
    EXPECT_EQ(range<std::int64_t>("take_along_axis axis=(-1) | f32[2,3] i64[2,999] -> f32[2,999]", 1, 1998),
              Range(0, 2));
    EXPECT_EQ(range<std::int64_t>("take_along_axis axis=(-2) | f32[30,1] i64[999,1] -> f32[999,1]", 1, 999),
              Range(0, 29));
    const std::string own = "lookup | f32[3,40] i64[999] i32[40] -> f32[999,40]";
    EXPECT_EQ(range<std::int64_t>(own, 1, 999), Range(0, 2));
    EXPECT_GT((range<std::int32_t>(own, 2, 40).second), 8);
    EXPECT_LT((range<std::int32_t>(own, 2, 40).second), 40);
}

TEST(Operands, OtherIntegersAreSmall) {
    EXPECT_EQ(range<std::int32_t>("neg | i32[999] -> i32[999]", 0, 999), (std::pair<std::int32_t, std::int32_t>(0, 7)));
    EXPECT_EQ(range<std::int8_t>("neg | i8[999] -> i8[999]", 0, 999), (std::pair<std::int8_t, std::int8_t>(0, 7)));
    EXPECT_EQ(range<std::uint8_t>("neg | u8[999] -> u8[999]", 0, 999), (std::pair<std::uint8_t, std::uint8_t>(0, 7)));
}

TEST(Operands, BoundOperandsAreStreamedAndOthersStayInPlace) {
    const char* text = "matmul | f32[4,16] f32[16,16]! -> f32[4,16]";  // 1024 bytes that are bound, and a cache line
                                                                       // between
    EXPECT_EQ(Made("exp | f32[4] -> f32[4]", 1 << 20).operands.position_count(), 1) << "nothing is bound";
    EXPECT_EQ(Made("exp | f32[4] -> f32[4]", 1 << 20).memory->streamed().size(), 0U) << "so none is made";
    EXPECT_EQ(Made(text, 1 << 20, {}, {}, 1, false).operands.position_count(), 1) << "hot";
    Made made(text, 1 << 20);
    EXPECT_EQ(made.operands.streamed_bytes(), 1088U);
    EXPECT_EQ(made.operands.position_count(), (1 << 20) / 1088);
    std::set<const std::byte*> free, bound, results;
    for (std::int64_t call = 1; call < 2 * made.operands.position_count(); ++call) {
        free.insert(made.args.inputs[0].data);
        bound.insert(made.args.inputs[1].data);
        results.insert(made.args.outputs[0].data);
        made.calls.next();
    }
    EXPECT_EQ(free.size(), 1U);
    EXPECT_EQ(results.size(), 1U);
    ASSERT_EQ(bound.size(), static_cast<std::size_t>(made.operands.position_count()))
        << "all of it, however small the operand";
    EXPECT_EQ(*bound.begin(), made.memory->streamed().data());
    EXPECT_LE(*bound.rbegin() + 1024, made.memory->streamed().data() + made.memory->streamed().size());
    for (const std::byte* each : {*bound.begin(), *bound.rbegin()})
        EXPECT_NEAR(moments(elements<float>({const_cast<std::byte*>(each), nullptr, nullptr, 0}, 256)).second * 64, 1,
                    0.4);
}

TEST(Operands, TheNextKernelContinuesTheRotation) {
    const Made first("matmul | f32[4,16] f32[16,16]! -> f32[4,16]", 1 << 20);
    first.operands.advance(10);
    const Operands second(problem("exp | f32[100]! -> f32[100]"), {}, {}, 1, first.memory, true);
    RotatingArgs calls(second);
    const std::byte* at = calls.next().inputs[0].data;
    EXPECT_GE(at, first.memory->streamed().data() + 10 * 1088);
    EXPECT_LT(at, first.memory->streamed().data() + 10 * 1088 + second.streamed_bytes());
    second.advance(second.position_count() - second.position());
    EXPECT_EQ(second.position(), 0) << "around and around";
}

TEST(Operands, LargeStridedOperandsAreStreamedLikeStates) {
    const auto bytes = [](const char* operand) {
        return Made(std::string("neg | ") + operand + " -> f32[2,8,64]", 1 << 20).operands.streamed_bytes();
    };
    EXPECT_GT(bytes("f32[2,8,64]:(8192,64,1)"), 32768U);
    EXPECT_EQ(bytes("f32[2,8,64]:(600,64,1)"), 0U) << "a private cache holds it";
    EXPECT_EQ(bytes("f32[2,80,64]"), 0U) << "it was made just now";
    EXPECT_EQ(bytes("f32[200,80,64]:(0,64,1)"), 0U) << "read again and again";
}

TEST(Operands, OperandsLargerThanTheRotationAreComplete) {
    const Made made("exp | f32[100000]! -> f32[100000]", 1 << 16);
    EXPECT_EQ(made.operands.position_count(), 1);
    EXPECT_GE(made.memory->streamed().size(), 400000U);
}

/// Distance in bytes from the first to the second operand.
std::ptrdiff_t room_for(const std::string& desc) {
    const Made made("add | " + desc + " f32[1] -> f32[4]");
    return made.args.inputs[1].data - made.args.inputs[0].data;
}

TEST(Operands, MemoryExtendsToTheLastStridedElement) {
    EXPECT_GE(room_for("f32[3,4]:(100,1)"), 204 * 4);
    EXPECT_LT(room_for("f32[3,4]:(0,1)"), 3 * 4 * 4 + 128);
    EXPECT_LT(room_for("f32[1000,1000]:(0,0)"), 4 + 128);
    EXPECT_EQ(room_for("f32[0,1000]"), 64) << "no elements, an address of its own";
    EXPECT_GE(room_for("f32[]"), 4);
}

TEST(Operands, ShapesStridesAndAttributesArePassedToTheKernel) {
    const Made made("slice start=(1,0) size=(2,3) step=(1,2) | f32[3,6] -> f32[2,3]");
    const Args& args = made.args;
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
        return static_cast<std::ptrdiff_t>(Made(text, 0, {}, layouts).operands.streamed_bytes());
    };
    EXPECT_EQ(bytes("copy | f32[3,7]@panel! -> f32[4]"), 3008 + 64);
    EXPECT_EQ(bytes("copy | f32[3,7]@panel_t! -> f32[4]"), 7040 + 64) << "of the transposed matrix";
}

TEST(Operands, AKernelReceivesItsWorkspaceAndPreparedData) {
    Kernel kernel;
    kernel.workspace = [](const Problem&, int threads) { return Dim(1000 * threads); };
    kernel.prepare = [](const Problem&, int) -> std::shared_ptr<const void> { return std::make_shared<int>(7); };
    const Made made("exp | f32[4] -> f32[4]", 0, kernel, {}, 3);
    EXPECT_GE(made.memory->written().data() + made.memory->written().size() - made.args.workspace, 3000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made.args.workspace) % 64, 0U);
    EXPECT_EQ(*static_cast<const int*>(made.args.prepared), 7);
    EXPECT_EQ(Made("exp | f32[4] -> f32[4]").args.prepared, nullptr);
}

}  // namespace
}  // namespace cairn::autotune
