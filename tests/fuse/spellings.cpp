#include "tests/fuse/spellings.hpp"

#include "ir/print.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cairn::test {
namespace {

Graph spelled(const Family& family, const Spelling& spelling) {
    Graph graph(family.definition);
    graph.output("y", spelling.build(family.operands(graph)));
    return graph;
}

// The tiles of one spelling, each checked by value. What is written differently must be a different graph.
Proposed tiles_of(const Family& family, const Spelling& spelling, std::set<std::string>& seen) {
    const Graph graph = spelled(family, spelling);
    EXPECT_TRUE(seen.insert(to_string(graph)).second) << spelling.text << " is written twice";
    Proposed result = proposed(graph);
    EXPECT_EQ(tiles_fault(result, 7), "") << spelling.text;
    return result;
}

// Of bodies behind products there may be several at an output.
const fuse::Tile* tile_of(const Family& family, const Proposed& tiles) {
    return family.definition == "fused" ? tile_that_is(tiles, family.tile) : tile_at_output(tiles, family.definition);
}

}  // namespace

void expect_found(const Family& family, const std::vector<Spelling>& spellings) {
    EXPECT_GE(spellings.size(), 20u);
    std::set<std::string> seen;
    for (const Spelling& spelling : spellings) {
        const Proposed tiles = tiles_of(family, spelling, seen);
        const fuse::Tile* tile = tile_of(family, tiles);
        if (tile == nullptr)
            ADD_FAILURE() << family.definition << " is not found in " << spelling.text << "\n"
                          << ir::print(*tiles.graph);
        else
            EXPECT_EQ(summary(tiles, *tile), family.tile) << spelling.text;
    }
}

void expect_missed(const Family& family, const std::vector<Spelling>& spellings) {
    EXPECT_GE(spellings.size(), 20u);
    std::set<std::string> seen;
    std::size_t found = 0;
    for (const Spelling& spelling : spellings) {
        const Proposed tiles = tiles_of(family, spelling, seen);
        const fuse::Tile* tile = tile_of(family, tiles);
        const auto other = family.others.find(spelling.text);
        const bool is_other = other != family.others.end();
        found += is_other ? 1 : 0;
        EXPECT_EQ(tile == nullptr ? "" : summary(tiles, *tile), is_other ? other->second : "")
            << family.definition << " in " << spelling.text << "\n"
            << ir::print(*tiles.graph);
    }
    EXPECT_EQ(found, family.others.size());
}

}  // namespace cairn::test
