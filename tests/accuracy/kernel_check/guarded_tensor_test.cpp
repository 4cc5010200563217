#include "accuracy/kernel_check/guarded_tensor.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace cairn::kernel_check {
namespace {

interpreter::Value value_of(const std::vector<double>& data) {
    interpreter::Value value;
    value.dtype = DType::f32;
    value.shape = {static_cast<std::int64_t>(data.size())};
    value.data = data;
    return value;
}

GuardedTensor partial_sums_of(const std::vector<double>& data, int parts) {
    TensorDesc tensor = TensorDesc::dense(DType::f32, {Dim(static_cast<std::int64_t>(data.size()))});
    tensor.layout = "partial_sums." + std::to_string(parts);
    return GuardedTensor(tensor, 0xcd, 1);
}

// A kernel may add the parts in any order, in f32: the sum is exact, so that references need not know the order.
TEST(GuardedTensor, PartialSumsAddUpExactlyInAnyOrder) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<double> data{
        1.0f / 3, -1.23456789e30f, 0x1.fffffep0f, -0x1.000002p-90f, 3e-41f, 0.0, -0.0, infinity, -infinity, NAN};
    for (const int parts : {1, 2, 3, 8, 12, 40}) {
        GuardedTensor tensor = partial_sums_of(data, parts);
        ASSERT_EQ(tensor.size(), data.size() * sizeof(float) * static_cast<std::size_t>(parts));
        tensor.write(value_of(data));
        EXPECT_TRUE(tensor.guards_intact());
        std::vector<float> memory(tensor.size() / sizeof(float));
        std::memcpy(memory.data(), tensor.data(), tensor.size());
        std::vector<std::size_t> order(static_cast<std::size_t>(parts));
        std::iota(order.begin(), order.end(), 0);
        for (int turn = 0; turn < parts; ++turn) {
            std::rotate(order.begin(), order.begin() + 1, order.end());
            if (turn % 2 == 1) std::reverse(order.begin(), order.end());
            for (std::size_t i = 0; i < data.size(); ++i) {
                float sum = memory[order[0] * data.size() + i];
                for (std::size_t n = 1; n < order.size(); ++n) sum += memory[order[n] * data.size() + i];
                const auto right = static_cast<float>(data[i]);
                if (std::isnan(right))
                    EXPECT_TRUE(std::isnan(sum));
                else
                    EXPECT_EQ(std::bit_cast<std::uint32_t>(sum), std::bit_cast<std::uint32_t>(right))
                        << "element " << i << " of " << parts << " parts";
            }
        }
        const interpreter::Value read = tensor.read();
        for (std::size_t i = 0; i + 1 < data.size(); ++i) EXPECT_EQ(read.data[i], data[i]);
    }
}

// With one part, or with parts of zero, a kernel that reads only some of them would pass.
TEST(GuardedTensor, EachOfEightPartsOfANormalValueIsNeeded) {
    GuardedTensor tensor = partial_sums_of({1.0f / 3}, 8);
    tensor.write(value_of({1.0f / 3}));
    for (std::size_t part = 0; part < 8; ++part) {
        float value;
        std::memcpy(&value, tensor.data() + part * sizeof value, sizeof value);
        EXPECT_GT(value, 0);
    }
}

TEST(GuardedTensor, OtherLayoutsAreRefused) {
    TensorDesc tensor = TensorDesc::dense(DType::f32, {Dim(4)});
    for (const char* layout : {"partial_sums.", "partial_sums.0", "panel8"}) {
        tensor.layout = layout;
        EXPECT_FALSE(GuardedTensor::supports_layout(layout));
        EXPECT_THROW(GuardedTensor(tensor, 0, 0), Error) << layout;
    }
}

}  // namespace
}  // namespace cairn::kernel_check
