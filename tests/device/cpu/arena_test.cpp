#include "device/cpu/arena.hpp"

#include "cairn/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace cairn::device {
namespace {

using ::testing::HasSubstr;

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

template <class Call>
void expect_error(ErrorKind kind, const std::string& part, const Call& call) {
    try {
        call();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind);
        EXPECT_THAT(error.what(), HasSubstr(part));
    }
}

static_assert(!std::is_copy_constructible_v<Arena> && std::is_nothrow_move_constructible_v<Arena>);

TEST(Arena, ReservationUsesOnlyAddressSpace) {
    const std::size_t bytes = std::size_t{64} << 30;
    const Arena arena = Arena::reserve(bytes);
    ASSERT_NE(arena.data(), nullptr);
    EXPECT_EQ(arena.capacity(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % page(), 0U);
    EXPECT_EQ(arena.touched_bytes(), 0U);
    EXPECT_EQ(arena.resident_bytes(), 0U);
    EXPECT_TRUE(arena.owned());
}

TEST(Arena, TouchPopulatesTheRequestedBytesAndOnlyGrows) {
    Arena arena = Arena::reserve(std::size_t{1} << 30);
    const std::byte* const base = arena.data();
    arena.touch(1);
    EXPECT_EQ(arena.touched_bytes(), 1U);
    EXPECT_EQ(arena.resident_bytes(), page());
    arena.touch(100 * page());
    EXPECT_EQ(arena.resident_bytes(), 100 * page());
    arena.touch(100 * page() + 1);
    EXPECT_EQ(arena.resident_bytes(), 101 * page());
    arena.touch(5);
    EXPECT_EQ(arena.touched_bytes(), 100 * page() + 1);
    EXPECT_EQ(arena.resident_bytes(), 101 * page());
    EXPECT_EQ(arena.data(), base);
}

TEST(Arena, TouchKeepsContentsAndGivesZeros) {
    Arena arena = Arena::reserve(16 * page());
    arena.touch(10);
    EXPECT_EQ(arena.data()[9], std::byte{0});
    std::memset(arena.data(), 7, 10);
    arena.touch(16 * page());
    EXPECT_EQ(arena.data()[9], std::byte{7});
    EXPECT_EQ(arena.data()[16 * page() - 1], std::byte{0});
}

TEST(Arena, HugePages) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    Arena arena = Arena::reserve(3 * huge + 5, {true});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % huge, 0U);
    arena.touch(1);
    EXPECT_EQ(arena.resident_bytes(), page());
    arena.touch(huge - page());
    EXPECT_EQ(arena.resident_bytes(), huge - page());
    arena.touch(huge + 1);
    EXPECT_EQ(arena.resident_bytes(), 2 * huge);
    arena.touch(3 * huge + 5);
    EXPECT_EQ(arena.resident_bytes(), 4 * huge);
    arena.data()[3 * huge + 4] = std::byte{1};
}

TEST(Arena, CallersMemoryIsNotFreed) {
    alignas(64) static std::byte memory[1000];
    memory[999] = std::byte{9};
    {
        Arena arena = Arena::wrap(memory, 1000);
        EXPECT_EQ(arena.data(), memory);
        EXPECT_FALSE(arena.owned());
        arena.touch(1000);
        EXPECT_EQ(arena.touched_bytes(), 1000U);
        EXPECT_EQ(memory[999], std::byte{9});
        arena.poison(0, 10);
    }
    EXPECT_EQ(memory[0], std::byte{0xff});
    EXPECT_EQ(memory[10], std::byte{0});
}

TEST(Arena, CallersMemoryIsFaultedInByTouch) {
    // Starts in the middle of a page: the surrounding bytes must not change.
    void* const pages = mmap(nullptr, 64 * page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    madvise(pages, 64 * page(), MADV_NOHUGEPAGE);
    Arena arena = Arena::wrap(static_cast<std::byte*>(pages) + 64, 32 * page());
    EXPECT_EQ(arena.resident_bytes(), 0U);
    arena.touch(10 * page());
    EXPECT_EQ(arena.resident_bytes(), 11 * page());
    arena.touch(32 * page());
    EXPECT_EQ(arena.resident_bytes(), 33 * page());
    munmap(pages, 64 * page());
}

TEST(Arena, ErrorsNameTheBytes) {
    Arena arena = Arena::reserve(1000);
    expect_error(ErrorKind::memory, "1001 bytes are needed, but there is room for 1000", [&] { arena.touch(1001); });
    EXPECT_EQ(arena.touched_bytes(), 0U);
    const std::size_t too_many = std::size_t{1} << 60;
    expect_error(ErrorKind::memory, std::to_string(too_many), [&] { Arena::reserve(too_many); });
    expect_error(ErrorKind::memory, "18446744073709551615 bytes",
                 [] { Arena::reserve(std::numeric_limits<std::size_t>::max(), {true}); });
    expect_error(ErrorKind::argument, "null", [] { Arena::wrap(nullptr, 8); });
    alignas(64) static std::byte memory[128];
    expect_error(ErrorKind::argument, "aligned to 64", [] { Arena::wrap(memory + 8, 8); });
    arena.touch(100);
    expect_error(ErrorKind::argument, "100 touched", [&] { arena.poison(90, 11); });
    expect_error(ErrorKind::argument, "100 touched", [&] { arena.poison(101, 0); });
}

TEST(Arena, NoMemoryAtAll) {
    Arena arenas[] = {Arena(), Arena::reserve(0), Arena::wrap(nullptr, 0)};
    for (Arena& arena : arenas) {
        arena.touch(0);
        EXPECT_EQ(arena.capacity(), 0U);
        EXPECT_EQ(arena.resident_bytes(), 0U);
        EXPECT_EQ(arena.written_bytes(), 0U);
        expect_error(ErrorKind::memory, "1 bytes are needed", [&] { arena.touch(1); });
    }
}

TEST(Arena, PoisonIsNaNAndRevealsWrittenBytes) {
    Arena arena = Arena::reserve(1 << 20);
    arena.touch(1 << 20);
    arena.poison(0, 1 << 20);
    EXPECT_EQ(arena.written_bytes(), 0U);
    EXPECT_TRUE(std::isnan(reinterpret_cast<const float*>(arena.data())[17]));
    EXPECT_TRUE(std::isnan(reinterpret_cast<const double*>(arena.data())[17]));
    arena.data()[12345] = std::byte{0};
    EXPECT_EQ(arena.written_bytes(), 12346U);
    arena.poison(12345, 1);
    EXPECT_EQ(arena.written_bytes(), 0U);
}

TEST(Arena, MovesItsMemory) {
    Arena a = Arena::reserve(1 << 20);
    a.touch(5000);
    std::byte* const base = a.data();
    base[4000] = std::byte{3};
    Arena b = std::move(a);
    EXPECT_EQ(b.data(), base);
    EXPECT_EQ(b.touched_bytes(), 5000U);
    EXPECT_EQ(a.data(), nullptr);  // NOLINT: a moved-from arena has no memory
    EXPECT_EQ(a.capacity(), 0U);
    Arena c = Arena::reserve(100);
    c = std::move(b);
    EXPECT_EQ(c.data()[4000], std::byte{3});
    c.touch(1 << 20);
    EXPECT_EQ(c.data(), base);
}

}  // namespace
}  // namespace cairn::device
