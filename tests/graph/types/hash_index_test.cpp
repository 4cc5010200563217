#include "graph/types/hash_index.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::test {
namespace {

std::vector<std::uint32_t> at(const types::HashIndex& index, std::size_t hash) {
    std::vector<std::uint32_t> numbers;
    index.each(hash, [&](std::uint32_t number) { numbers.push_back(number); });
    return numbers;
}

TEST(HashIndex, FindsAllEntriesWhileItGrows) {
    types::HashIndex index;
    EXPECT_TRUE(at(index, 7).empty()) << "nothing is in it";
    for (std::uint32_t i = 0; i < 5000; ++i) {
        index.add(i * std::size_t{0x10001}, i);
        ASSERT_EQ(at(index, 0), std::vector<std::uint32_t>{0}) << "after " << i;
    }
    for (std::uint32_t i = 0; i < 5000; ++i)
        ASSERT_EQ(at(index, i * std::size_t{0x10001}), std::vector<std::uint32_t>{i});
    EXPECT_TRUE(at(index, 5000 * std::size_t{0x10001}).empty());
}

TEST(HashIndex, KeepsAllEntriesOfOneHash) {
    types::HashIndex index;
    for (std::uint32_t i = 0; i < 20; ++i) index.add(3, i);
    index.add(4, 99);
    EXPECT_EQ(at(index, 3).size(), 20U);
    EXPECT_EQ(at(index, 4), std::vector<std::uint32_t>{99});
}

}  // namespace
}  // namespace cairn::test
