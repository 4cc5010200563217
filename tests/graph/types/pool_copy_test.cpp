#include "graph/types/pool_copy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace cairn::test {
namespace {

TEST(PoolCopy, CopiesKeepTheirContents) {
    std::pmr::monotonic_buffer_resource pool;
    std::vector<std::int64_t> list;
    std::vector<std::span<const std::int64_t>> copies;
    for (std::int64_t i = 0; i < 100; ++i) {
        copies.push_back(types::copy_to_pool(std::span<const std::int64_t>(list), pool));
        list.push_back(i);
    }
    list.assign(list.size(), -1);
    for (std::size_t count = 0; count < copies.size(); ++count) {
        ASSERT_EQ(copies[count].size(), count);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(copies[count][i], static_cast<std::int64_t>(i));
    }
}

}  // namespace
}  // namespace cairn::test
