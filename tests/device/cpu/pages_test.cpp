#include "device/cpu/pages.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace cairn::device {
namespace {

TEST(Pages, RoundsUp) {
    EXPECT_EQ(round_up(0, 64), 0u);
    EXPECT_EQ(round_up(1, 64), 64u);
    EXPECT_EQ(round_up(128, 64), 128u);
    EXPECT_EQ(round_up(page_size(), page_size()), page_size());
}

TEST(Pages, PopulateFaultsPagesInAndKeepsContents) {
    const std::size_t bytes = 4 * page_size();
    auto* const at =
        static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(at), MAP_FAILED);
    at[page_size() + 5] = std::byte{9};
    EXPECT_EQ(populate(at, at + bytes, at), 0);
    EXPECT_EQ(at[page_size() + 5], std::byte{9});
    for (std::size_t page = 0; page < 4; ++page) {
        unsigned char in_core = 0;
        ASSERT_EQ(mincore(at + page * page_size(), 1, &in_core), 0);
        EXPECT_EQ(in_core & 1, 1) << page;
    }
    EXPECT_EQ(populate(at, at, at), 0);
    munmap(at, bytes);
}

}  // namespace
}  // namespace cairn::device
