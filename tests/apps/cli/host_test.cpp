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
