#include "timing/operand_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cairn::timing {
namespace {

TEST(OperandMemory, StretchesGrowAndHoldThePattern) {
    OperandMemory memory(1 << 20, 4096);
    memory.reserve(0, 100, 0);
    EXPECT_EQ(memory.streamed().capacity(), 0U);
    EXPECT_EQ(memory.written().capacity(), 0U);
    memory.reserve(100, 100, 50);
    EXPECT_GE(memory.streamed().capacity(), 1U << 20) << "caches are not to hold it";
    const std::byte* streamed = memory.streamed().data();
    memory.cursor = 64;
    memory.reserve(1 << 19, 5000, 50);
    EXPECT_EQ(memory.streamed().data(), streamed) << "long enough";
    EXPECT_EQ(memory.cursor, 64U);
    EXPECT_GE(memory.kept().capacity(), 5000U);
    memory.reserve(3 << 20, 0, 0);
    EXPECT_GE(memory.streamed().capacity(), 3U << 20);
    EXPECT_EQ(memory.cursor, 0U);
    std::vector<std::byte> pattern(3 << 20);
    fill_with_pattern(pattern.data(), pattern.size());
    EXPECT_EQ(std::memcmp(pattern.data(), memory.streamed().data(), pattern.size()), 0);
    EXPECT_EQ(std::memcmp(pattern.data(), memory.kept().data(), 5000), 0);
}

}  // namespace
}  // namespace cairn::timing
