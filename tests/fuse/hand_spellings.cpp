#include "tests/fuse/hand_spellings.hpp"

#include "fuse/why_not.hpp"
#include "ir/print.hpp"
#include "tests/fuse/tile_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::test {
namespace {

Proposed tiles_of(const HandSpelling& build, const std::string& name) {
    Graph graph("spelled");
    graph.output("y", build(graph));
    Proposed result = proposed(graph);
    EXPECT_EQ(tiles_fault(result, 11), "") << name;
    return result;
}

}  // namespace

void expect_spelled(const std::string& definition, const std::string& name, const HandSpelling& build) {
    const Proposed tiles = tiles_of(build, name);
    EXPECT_TRUE(std::any_of(tiles.tiles.begin(), tiles.tiles.end(),
                            [&](const fuse::Tile& tile) { return work_of(tile) == definition; }))
        << definition << " is not found in " << name << "\n"
        << ir::print(*tiles.graph) << fuse::to_string(tiles.tiles);
}

void expect_refused(const std::string& definition, const std::string& name, const std::string& reason,
                    const HandSpelling& build) {
    const Proposed tiles = tiles_of(build, name);
    EXPECT_EQ(tile_at_output(tiles, definition), nullptr) << name;
    const std::string why = fuse::why_not(*tiles.graph, tiles.graph->outputs()[0].node, definitions(), definition);
    EXPECT_NE(why.find(reason), why.npos) << name << ": " << why;
}

}  // namespace cairn::test
