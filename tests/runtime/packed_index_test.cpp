#include "runtime/packed_index.hpp"

#include "cairn/error.hpp"
#include "device/cpu/thread_pool.hpp"
#include "runtime/xxh64.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn::runtime {
namespace {

PackedIndex some_index() {
    PackedIndex index;
    index.values["b"] = {0, 3 * checksum_block_bytes + 1, {1, 2, 0xffffffffffffffff, 4}};
    index.values["a"] = {3 * checksum_block_bytes + 64, checksum_block_bytes, {7}};
    index.values["none"] = {0, 0, {}};
    return index;
}

TEST(PackedIndex, RoundTripsThroughText) {
    for (const PackedIndex& index : {some_index(), PackedIndex()})
        EXPECT_EQ(parse_packed_index(to_string(index, "w"), "w"), index);
    EXPECT_THROW(parse_packed_index(to_string(some_index(), "w"), "v"), Error) << "of other weights";
}

TEST(PackedIndex, DetectsAnyChange) {
    const std::string text = to_string(some_index(), "w");
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string changed = text;
        changed[at] = changed[at] == '1' ? '2' : '1';
        EXPECT_THROW(parse_packed_index(changed, "w"), Error) << at;
        EXPECT_THROW(parse_packed_index(text.substr(0, at), "w"), Error) << at;
    }
}

TEST(PackedIndex, BlocksCoverEachByteOnce) {
    std::vector<std::byte> bytes(2 * checksum_block_bytes + 77);
    std::mt19937 random(5);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    device::ThreadPool pool(2);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{checksum_block_bytes},
                                   std::size_t{checksum_block_bytes} + 1, bytes.size()}) {
        std::vector<ChecksumBlock> blocks;
        add_blocks(std::span(bytes).first(size), {0, size, {5}}, blocks);
        std::size_t next = 0;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            EXPECT_EQ(blocks[b].bytes.data(), bytes.data() + next);
            EXPECT_EQ(blocks[b].sum, b == 0 ? 5U : 0U);
            next += blocks[b].bytes.size();
        }
        EXPECT_EQ(next, size);
        const std::vector<std::uint64_t> checksums = checksums_of(blocks, &pool);
        EXPECT_EQ(checksums, checksums_of(blocks, nullptr));
        for (std::size_t b = 0; b < blocks.size(); ++b) EXPECT_EQ(checksums[b], xxh64(blocks[b].bytes));
    }
}

}  // namespace
}  // namespace cairn::runtime
