#include "autotune/measurement/operand_memory.hpp"

#include "cairn/error.hpp"
#include "device/cpu/cpu_backend.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <vector>

namespace cairn::autotune {
namespace {

TEST(OperandMemory, RangesGrowAndKeepThePattern) {
    const auto cpu = device::cpu_backend(1);
    OperandMemory memory(*cpu, 1 << 20, 4096);
    memory.reserve(0, 100, 0);
    EXPECT_EQ(memory.streamed().size(), 0U);
    EXPECT_EQ(memory.written().size(), 0U);
    memory.reserve(100, 100, 50);
    EXPECT_GE(memory.streamed().size(), 1U << 20) << "caches are not to hold it";
    const std::byte* streamed = memory.streamed().data();
    memory.cursor = 64;
    memory.reserve(1 << 19, 5000, 50);
    EXPECT_EQ(memory.streamed().data(), streamed) << "long enough";
    EXPECT_EQ(memory.cursor, 64U);
    EXPECT_GE(memory.kept().size(), 5000U);
    memory.reserve(3 << 20, 0, 0);
    EXPECT_GE(memory.streamed().size(), 3U << 20);
    EXPECT_EQ(memory.cursor, 0U);
    std::vector<std::byte> pattern(3 << 20);
    fill_with_pattern(pattern.data(), pattern.size());
    EXPECT_EQ(std::memcmp(pattern.data(), memory.streamed().data(), pattern.size()), 0);
    EXPECT_EQ(std::memcmp(pattern.data(), memory.kept().data(), 5000), 0);
}

TEST(OperandMemory, TheRotationIsFilledAsTimePermits) {
    const auto cpu = device::cpu_backend(1);
    OperandMemory memory(*cpu, 32 << 20, 4096);
    const FillOptions no_time{{}, std::chrono::steady_clock::time_point()};
    memory.reserve(3 << 20, 0, 0, no_time);
    EXPECT_GE(memory.filled_bytes(), 3U << 20) << "what a call needs";
    EXPECT_LT(memory.filled_bytes(), 8U << 20);
    EXPECT_TRUE(memory.is_partly_filled());
    const std::byte* const streamed = memory.streamed().data();
    memory.reserve(100, 0, 0);
    EXPECT_EQ(memory.streamed().data(), streamed) << "it goes on";
    EXPECT_EQ(memory.filled_bytes(), memory.streamed().size());
    EXPECT_FALSE(memory.is_partly_filled());
    std::vector<std::byte> pattern(memory.filled_bytes());
    fill_with_pattern(pattern.data(), pattern.size());
    EXPECT_EQ(std::memcmp(pattern.data(), streamed, pattern.size()), 0) << "as if it had been filled at once";
}

TEST(OperandMemory, AStopRequestEndsTheFilling) {
    const auto cpu = device::cpu_backend(1);
    OperandMemory memory(*cpu, 64 << 20, 4096);
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(memory.reserve(1, 0, 0, {source.get_token()}), Cancelled);
    EXPECT_EQ(memory.filled_bytes(), 0U);
    EXPECT_THROW(memory.reserve(0, 1, 0, {source.get_token()}), Cancelled);
    EXPECT_THROW(memory.reserve(0, 0, 1, {source.get_token()}), Cancelled);
    memory.reserve(1, 1, 1);
    EXPECT_FALSE(memory.is_partly_filled()) << "what was begun can be used";
}

}  // namespace
}  // namespace cairn::autotune
