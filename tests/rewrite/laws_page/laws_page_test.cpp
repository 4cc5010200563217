#include "tests/rewrite/laws_page/laws_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

namespace cairn::test {
namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Where the page differs from the tables, the right one is written to the build folder.
TEST(LawsPage, MatchesTheTables) {
    const std::string page = laws_page(), known = std::string(CAIRN_SOURCE_DIR) + "/docs/laws.md",
                      made = std::string(CAIRN_BINARY_DIR) + "/laws.md";
    if (text_of(known) == page) return;
    std::ofstream(made) << page;
    FAIL() << "docs/laws.md is not what the tables say; copy " << made << " to " << known;
}

// A bar would end a cell.
TEST(LawsPage, HasFourCellsInEachRow) {
    std::string line;
    bool inside = false;
    for (const char c : laws_page()) {
        if (c != '\n') {
            line += c;
            continue;
        }
        inside = inside || line.starts_with("| name");
        if (inside && line.starts_with("|")) { EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 5) << line; }
        line.clear();
    }
    EXPECT_TRUE(inside);
}

}  // namespace
}  // namespace cairn::test
