#include "apps/cli/host.hpp"

#include "apps/cli/database_file.hpp"
#include "cairn/timing_db.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

namespace cairn::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Host, ErrorsInGraphsNameFileAndPosition) {
    const test::TempFolder temp;
    const std::string path = temp.write("g.cairn", test::layer_text()).string();
    EXPECT_EQ(to_string(read_graph(path)), test::layer_text());
    const std::string bad = temp.write("bad.cairn", "graph g\n%0 = input \"x\" : f33[2]\n").string();
    EXPECT_THAT(test::message([&] { read_graph(bad); }), StartsWith("[graph] " + bad + ": line 2, column "));
    EXPECT_THAT(test::message([&] { graph_of_text("graph g\n", "-"); }), StartsWith("[graph] standard input: "));
    EXPECT_THAT(test::message([&] { read_graph((temp / "none").string()); }), StartsWith("[read] "));
    EXPECT_THAT(test::message([&] { read_text(temp.path().string()); }), StartsWith("[read] "));
    EXPECT_THAT(test::message([&] { write_text((temp / "no/file").string(), "x"); }), StartsWith("[write] "));
    for (const std::string& wrong : {(temp / "no/file").string(), temp.path().string()})
        EXPECT_THAT(test::message([&] { check_can_write(wrong); }), StartsWith("[write] " + wrong));
    EXPECT_NO_THROW(check_can_write(""));
    EXPECT_NO_THROW(check_can_write((temp / "fresh").string()));
    EXPECT_FALSE(std::filesystem::exists(temp / "fresh"));
}

TEST(Host, DatabasesAreInspectedWithoutOpeningThem) {
    const test::TempFolder temp;
    EXPECT_FALSE(inspect_database_file(temp / "none.db").exists);
    EXPECT_FALSE(std::filesystem::exists(temp / "none.db"));
    { TimingDb made(temp / "times.db"); }
    const DatabaseFileInfo file = inspect_database_file(temp / "times.db");
    EXPECT_TRUE(file.exists);
    EXPECT_TRUE(file.has_log);
    EXPECT_EQ(file.bytes, std::filesystem::file_size(temp / "times.db"));
    EXPECT_TRUE(inspect_database_file(temp.write("empty.db", "")).exists);
    for (const std::filesystem::path& wrong :
         {temp.write("text", "SQLite format 4"), temp.write("graph", test::layer_text()), temp.path()})
        EXPECT_THAT(test::message([&] { inspect_database_file(wrong); }), HasSubstr("is not a database"));
    EXPECT_THAT(test::message([&] { inspect_database_file(temp / "no/times.db"); }), HasSubstr("folder"));
}

}  // namespace
}  // namespace cairn::cli
