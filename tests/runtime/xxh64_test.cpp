#include "runtime/xxh64.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace cairn::runtime {
namespace {

std::uint64_t sum_of(std::string_view text) { return xxh64(std::as_bytes(std::span(text))); }

// Values of the reference implementation.
TEST(Xxh64, IsXxh64) {
    EXPECT_EQ(sum_of(""), 0xef46db3751d8e999U);
    EXPECT_EQ(sum_of("a"), 0xd24ec4f1a98c6e5bU);
    EXPECT_EQ(sum_of("abc"), 0x44bc2cf5ad770999U);
    EXPECT_EQ(sum_of("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1U);
}

TEST(Xxh64, ChangesWithEveryBitOfEveryByte) {
    std::mt19937 random(1);
    for (std::size_t size = 1; size < 100; ++size) {
        std::vector<std::byte> bytes(size);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        const std::uint64_t sum = xxh64(bytes);
        for (std::size_t at = 0; at < size; ++at)
            for (int bit = 0; bit < 8; ++bit) {
                bytes[at] ^= static_cast<std::byte>(1 << bit);
                EXPECT_NE(xxh64(bytes), sum) << size << ' ' << at << ' ' << bit;
                bytes[at] ^= static_cast<std::byte>(1 << bit);
            }
        EXPECT_NE(xxh64(std::span(bytes).first(size - 1)), sum);
    }
}

}  // namespace
}  // namespace cairn::runtime
