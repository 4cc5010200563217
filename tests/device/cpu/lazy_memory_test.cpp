#include "device/cpu/lazy_memory.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace cairn::device {
namespace {

TEST(LazyMemory, IsZeroAndKeepsWrittenBytes) {
    constexpr std::size_t bytes = (std::size_t{1} << 30) + 100;
    LazyMemory memory(bytes);
    ASSERT_EQ(memory.size(), bytes);
    const std::size_t middle = bytes / 2 + 17;
    memory.touch(middle, 3);
    EXPECT_TRUE(
        std::all_of(memory.data() + middle, memory.data() + middle + 3, [](std::byte b) { return b == std::byte{}; }));
    memory.data()[middle] = std::byte{7};
    memory.touch(middle - 5000, 20000);
    EXPECT_EQ(memory.data()[middle], std::byte{7});
    memory.touch(bytes - 1, 1);
    memory.data()[bytes - 1] = std::byte{1};
    memory.touch(0, 0);
}

TEST(LazyMemory, MovesWithItsBytes) {
    LazyMemory a(5000), none;
    a.touch(0, 5000);
    a.data()[4999] = std::byte{3};
    LazyMemory b(std::move(a));
    none = std::move(b);
    EXPECT_EQ(none.size(), 5000u);
    EXPECT_EQ(none.data()[4999], std::byte{3});
}

TEST(LazyMemory, AnExcessiveSizeIsRefusedWithItsNumber) {
    constexpr std::size_t bytes = std::numeric_limits<std::size_t>::max() / 4;
    try {
        LazyMemory memory(bytes);
        ADD_FAILURE() << "it was had";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::memory);
        EXPECT_NE(std::string_view(error.what()).find(std::to_string(bytes)), std::string_view::npos) << error.what();
    }
}

}  // namespace
}  // namespace cairn::device
