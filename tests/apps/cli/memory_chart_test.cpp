#include "apps/cli/memory_chart.hpp"

#include "tests/apps/cli/markup.hpp"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

BufferMemory buffer(const char* name, std::int64_t bytes, int first, int last, std::int64_t offset) {
    return {name, "transient", "", bytes, first, last, offset};
}

/// Ten instructions; two buffers share a block, one is not in the arena, one is empty.
ReportData four_pieces() {
    ReportData study;
    ExplainedBucket bucket;
    ExplainedInstruction once, each;
    once.at_bind = true;
    each.chosen.problem = "matmul | f32[4,4] f32[4,4] -> f32[4,4]";
    bucket.instructions.assign(10, each);
    bucket.instructions.insert(bucket.instructions.begin(), once);
    study.why.buckets = {bucket};
    study.memory.arena = 1000;
    study.memory.buffers = {buffer("a", 400, 0, 3, 0), buffer("b", 600, 0, 3, 400), buffer("c", 300, 0, 3, 0),
                            buffer("d", 100, 9, 9, 0), buffer("w", 77, -1, -1, -1), buffer("e", 0, 1, 2, 0),
                            buffer("f", 1000, 4, 8, 0)};
    return study;
}

TEST(MemoryChart, BlocksAreTheBuffersOfTheArena) {
    const std::vector<ArenaBlock> pieces = arena_blocks(four_pieces().memory);
    ASSERT_EQ(pieces.size(), 4u);
    EXPECT_EQ(pieces[0].bytes, 400);
    EXPECT_EQ(pieces[0].names, "a, then c");
    EXPECT_EQ(pieces[1].offset, 400);
    EXPECT_EQ(pieces[3].first, 4);
    EXPECT_EQ(pieces[3].last, 8);
}

TEST(MemoryChart, RectanglesShowLiveIntervalsAndBytes) {
    const ReportData study = four_pieces();
    const std::vector<ArenaBlock> pieces = arena_blocks(study.memory);
    std::vector<test::Element> rects;
    for (const test::Element& element : test::elements_in(memory_chart(study)))
        if (element.has_class("memory")) rects.push_back(element);
    ASSERT_EQ(rects.size(), pieces.size());
    const double across = rects[3].number("width") / 5, up = rects[3].number("height") / 1000;
    const double left = rects[0].number("x"), ground = rects[0].number("y") + rects[0].number("height");
    for (std::size_t i = 0; i < rects.size(); ++i) {
        const ArenaBlock& piece = pieces[i];
        EXPECT_NEAR(rects[i].number("x"), left + piece.first * across, 0.5);
        EXPECT_NEAR(rects[i].number("width"), (piece.last + 1 - piece.first) * across, 0.5);
        EXPECT_NEAR(rects[i].number("height"), static_cast<double>(piece.bytes) * up, 0.5);
        EXPECT_NEAR(rects[i].number("y") + rects[i].number("height"), ground - static_cast<double>(piece.offset) * up,
                    0.5);
        EXPECT_TRUE(rects[i].has_class("product"));
    }
}

}  // namespace
}  // namespace cairn::cli
