#include "device/cpu/pages.hpp"

#include "device/cpu/thread_pool.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace cairn::device {
namespace {

/// Number of the pages that are in memory.
std::size_t resident(std::byte* at, std::size_t pages) {
    std::size_t count = 0;
    for (std::size_t page = 0; page < pages; ++page) {
        unsigned char in_core = 0;
        if (mincore(at + page * page_size(), 1, &in_core) == 0) count += in_core & 1;
    }
    return count;
}

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
    EXPECT_EQ(resident(at, 4), 4U);
    EXPECT_EQ(populate(at, at, at), 0);
    munmap(at, bytes);
}

TEST(Pages, ManyThreadsPopulateAPartEach) {
    // Not a multiple of the part size; fewer parts than threads; too few to share.
    for (const auto& [threads, pages] : {std::pair{2, 1537}, {3, 1024}, {7, 1025}, {2, 5}, {1, 2000}}) {
        ThreadPool pool(threads);
        const std::size_t count = static_cast<std::size_t>(pages), bytes = count * page_size();
        auto* const at = static_cast<std::byte*>(
            mmap(nullptr, bytes + page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ASSERT_NE(static_cast<void*>(at), MAP_FAILED);
        madvise(at, bytes + page_size(), MADV_NOHUGEPAGE);
        at[bytes - 1] = std::byte{9};
        EXPECT_EQ(populate(at, at + bytes, at + 70, &pool), 0);
        EXPECT_EQ(at[bytes - 1], std::byte{9});
        EXPECT_EQ(resident(at, count), count) << threads;
        EXPECT_EQ(resident(at + bytes, 1), 0U) << threads;
        // A failure of any thread is reported.
        munmap(at + (count - 1) * page_size(), page_size());
        EXPECT_EQ(populate(at, at + bytes, at, &pool), ENOMEM) << threads;
        munmap(at, (count - 1) * page_size());
        munmap(at + bytes, page_size());
    }
}

}  // namespace
}  // namespace cairn::device
