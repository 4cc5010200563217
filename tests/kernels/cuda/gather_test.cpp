#include "tests/kernels/cuda/references.hpp"

#include <gtest/gtest.h>

namespace cairn::kernels::cuda {
namespace {

const std::vector<std::string> gathers{
    "gather axis=(-2) | f32[50,N] i32[M] -> f32[M,N] where M in 0..300, N in 1..90",
    "gather axis=(-2) | f32[2,50,8]:(1000,20,1) i64[3,M]:(1,3) -> f32[2,3,M,8] where M in 0..20",
    "gather axis=(-1) | u8[3,50]:(1,3) i32[5] -> u8[3,5]",
    "embedding | f32[50,768]! i32[1,T]:(1,1) -> f32[1,T,768] where T in 1..1024",
    "embedding | bf16[50,24]! i64[3,T] -> bf16[3,T,24]:(24,72,1) where T in 1..60",
};

std::size_t size_from(const Shape& shape, std::size_t begin, std::size_t end) {
    std::size_t size = 1;
    for (std::size_t axis = begin; axis < end; ++axis) size *= static_cast<std::size_t>(shape[axis].constant());
    return size;
}

TEST(CudaGather, TakesRowsByIndex) {
    const KernelCases cases(gathers);
    const std::vector<std::vector<std::vector<std::int64_t>>> sizes{
        {{0, 5}, {1, 1}, {7, 3}, {300, 8}, {5, 90}}, {{0}, {1}, {20}}, {{}}, {{1}, {9}}, {{1}, {31}}};
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        for (const auto& size : sizes[i]) {
            for (const std::size_t misaligned : {0, 1}) {
                const Problem problem = cases.at(i, size);
                auto inputs = random_inputs(problem, ++seed);
                for (Number& x : inputs[0])
                    if (is_float(problem.inputs[0].dtype)) x = static_cast<int>(x * 8) / 8.0L;
                for (Number& index : inputs[1]) index = static_cast<Number>(static_cast<int>(index + 100) % 50);
                const auto y = cases.run(i, size, inputs, {.seed = seed, .misaligned = misaligned})[0];
                const Shape& shape = problem.inputs[0].shape;
                const std::size_t axis =
                    problem.definition == "embedding" || shape.size() < 3
                        ? (problem.definition != "embedding" && problem.attributes.integer("axis") == -1 ? 1 : 0)
                        : 1;
                const std::size_t before = size_from(shape, 0, axis), behind = size_from(shape, axis + 1, shape.size()),
                                  chosen = inputs[1].size();
                for (std::size_t b = 0; b < before; ++b)
                    for (std::size_t c = 0; c < chosen; ++c)
                        for (std::size_t j = 0; j < behind; ++j) {
                            const auto index = static_cast<std::size_t>(inputs[1][c]);
                            ASSERT_EQ(y[(b * chosen + c) * behind + j], inputs[0][(b * 50 + index) * behind + j]);
                        }
            }
        }
    }
}

TEST(CudaGather, AnIndexOutOfRangeIsReported) {
    const KernelCases cases(gathers);
    const std::vector<std::int64_t> size{5};
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{50}, std::int64_t{INT32_MIN}}) {
        auto inputs = random_inputs(cases.at(3, size), 2);
        inputs[1] = {0, 49, 3, static_cast<Number>(wrong), 7};
        ReportedFailure failure;
        const auto y = cases.run(3, size, inputs, {.failure = &failure})[0];
        EXPECT_NE(failure.code, 0U);
        EXPECT_EQ(failure.instruction, 7U);
        EXPECT_EQ(failure.input, 1U);
        EXPECT_EQ(failure.position, 3);
        EXPECT_EQ(failure.value, wrong);
        EXPECT_EQ(y[768], inputs[0][49 * 768]);
    }
}

TEST(CudaGather, AnEmbeddingHasAnEpilogue) {
    // A body with a number, results in two orders, and an input that is repeated over positions.
    const KernelCases cases(
        {"fused {3=embedding(0,1):f32 4=add(3,2):f32 5=const(0.5):f32 6=mul(4,5):f32} | f32[50,N]:(N+3,1)! "
         "i64[2,T]:(1,2) f32[2,T,N]:(0,N,1) -> f32[2,T,N]:(1,2,2*T) f32[2,T,N] results (6,3) where T in 0..9, N in "
         "0..300"});
    std::uint64_t seed = 1;
    for (const auto& size : std::vector<std::vector<std::int64_t>>{{0, 5}, {9, 0}, {1, 1}, {3, 7}, {2, 300}}) {
        for (const std::size_t misaligned : {0, 1}) {
            auto inputs = random_inputs(cases.at(0, size), ++seed);
            for (const std::size_t operand : {0, 2})
                for (Number& x : inputs[operand]) x = static_cast<int>(x * 8) / 8.0L;
            for (Number& index : inputs[1]) index = static_cast<Number>(static_cast<int>(index + 100) % 50);
            repeat_elements(cases.at(0, size), inputs);
            const auto y = cases.run(0, size, inputs, {.seed = seed, .misaligned = misaligned});
            const auto width = static_cast<std::size_t>(size[1]), rows = 2 * static_cast<std::size_t>(size[0]);
            ASSERT_EQ(y[0].size(), rows * width);
            for (std::size_t i = 0; i < rows * width; ++i) {
                const auto index = static_cast<std::size_t>(inputs[1][i / width]);
                const Number x = inputs[0][index * width + i % width];
                ASSERT_EQ(y[0][i], (x + inputs[2][i]) / 2) << i;
                ASSERT_EQ(y[1][i], x) << i;
            }
        }
    }
    const std::vector<std::int64_t> size{2, 7};
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{50}, std::int64_t{INT64_MAX}}) {
        auto inputs = random_inputs(cases.at(0, size), 2);
        inputs[1] = {0, 49, static_cast<Number>(wrong), 7};
        ReportedFailure failure;
        const auto y = cases.run(0, size, inputs, {.failure = &failure});
        EXPECT_NE(failure.code, 0U);
        EXPECT_EQ(failure.input, 1U);
        EXPECT_EQ(failure.position, 2);
        EXPECT_EQ(failure.value, wrong);
        EXPECT_EQ(y[1][7], inputs[0][49 * 7]);
    }
}

TEST(CudaGather, IotaCountsFromItsStart) {
    const KernelCases cases({"iota length=(T) start=(past) dtype=(5) | -> i32[T] where T in 0..1024, past in 0..1023",
                             "iota length=(9) start=(N) dtype=(1) | -> f32[9]:(2) where N in 0..50000000",
                             "iota length=(300) start=(250) dtype=(7) | -> u8[300]",
                             "iota length=(1 + mod(N, 5)) start=(floordiv(3 - N, 4) - mod(1 - N, 3)) dtype=(5) | -> "
                             "i32[1 + mod(N, 5)] where N in 0..40"});
    for (const auto& size : std::vector<std::vector<std::int64_t>>{{0, 3}, {1, 1023}, {700, 12}}) {
        const auto y = cases.run(0, size, {})[0];
        for (std::size_t i = 0; i < y.size(); ++i)
            ASSERT_EQ(y[i], static_cast<Number>(size[1]) + static_cast<Number>(i));
    }
    const std::vector<std::int64_t> start{33554433};
    EXPECT_EQ(cases.run(1, start, {})[0][4], static_cast<float>(33554437));
    EXPECT_EQ(cases.run(2, {}, {})[0][7], 1);
    // floor((3 - 13) / 4) is -3, and 1 - 13 modulo 3 is 0; for 9: -2 and 1.
    EXPECT_EQ(cases.run(3, std::vector<std::int64_t>{13}, {})[0], (Numbers{-3, -2, -1, 0}));
    EXPECT_EQ(cases.run(3, std::vector<std::int64_t>{9}, {})[0], (Numbers{-3, -2, -1, 0, 1}));
}

}  // namespace
}  // namespace cairn::kernels::cuda
