#include "autotune/database/schema.hpp"

#include "cairn/timing_file.hpp"
#include "tests/autotune/database/database_file.hpp"

#include <fstream>
#include <iterator>

namespace cairn::autotune {
namespace {

using test::machine, test::problem;

class Schema : public test::DatabaseFile {
protected:
    /// Changes the file to what a library with an older schema would have written.
    void make_old(int version) const {
        {
            TimingDb db(path);
            add(db, "k@1");
            if (version >= 2) db.record_error(problem(), "k@1", machine, test::figures(2e-2));
        }
        if (version < 3)
            change(path,
                   "DROP TABLE session; DROP TABLE choice; DROP TABLE rule; DROP TABLE format;"
                   "ALTER TABLE measurement DROP COLUMN session; ALTER TABLE accuracy DROP COLUMN session;");
        if (version < 2) change(path, "DROP TABLE accuracy");
        change(path, "PRAGMA user_version=" + std::to_string(version) + "; PRAGMA journal_mode=DELETE");
    }
};

TEST_F(Schema, OlderVersionsAreMigratedAndKeepTheirRows) {
    for (const int version : {1, 2}) {
        std::filesystem::remove(path);
        make_old(version);
        TimingDb db(path, log());
        EXPECT_TRUE(db.persistent());
        EXPECT_TRUE(has(db, "k@1"));
        EXPECT_EQ(db.find_error(problem(), "k@1", machine).has_value(), version == 2);
        db.record_error(problem(), "k@2", machine, test::figures(1e-3));
        db.record_choice("q", machine, test::policy, {"a", 1, 0.9, 1.1, 3});
        add(db, "k@3");
        ASSERT_TRUE(db.flush());
        EXPECT_EQ(ask(path, "PRAGMA user_version"), schema_version);
        EXPECT_EQ(times(), 2);
        EXPECT_TRUE(TimingDb(path).find_error(problem(), "k@2", machine));
        EXPECT_TRUE(TimingFile(path, TimingFile::Use::read).check().empty());
    }
    EXPECT_TRUE(lines.empty());
}

TEST_F(Schema, OlderShippedTimingsAreReadWithoutMigration) {
    for (const int version : {1, 2}) {
        std::filesystem::remove(path);
        make_old(version);
        TimingDb db({}, log(), {.shipped_timings = {path}});
        EXPECT_TRUE(has(db, "k@1"));
        EXPECT_EQ(db.find_error(problem(), "k@1", machine).has_value(), version == 2);
        EXPECT_TRUE(db.rules().empty());
        EXPECT_FALSE(db.find_choice("q", machine, test::policy));
        EXPECT_EQ(ask(path, "PRAGMA user_version"), version);
        TimingFile all(folder / ("all" + std::to_string(version) + ".db"), TimingFile::Use::write);
        EXPECT_EQ(all.merge(TimingFile(path, TimingFile::Use::read)), version == 2 ? 2U : 1U)
            << "a time, and an error; there were no sessions";
    }
    EXPECT_TRUE(lines.empty());
}

TEST_F(Schema, ANewerReadableVersionIsReadButNotWritten) {
    {
        TimingDb db(path);
        add(db, "k@1");
    }
    change(path, "PRAGMA user_version=99; CREATE TABLE more(a); PRAGMA journal_mode=DELETE");
    TimingDb db(path, log());
    EXPECT_FALSE(db.persistent());
    EXPECT_TRUE(has(db, "k@1"));
    add(db, "k@2");
    add(db, "k@3");
    EXPECT_TRUE(has(db, "k@2"));
    EXPECT_FALSE(db.flush());
    EXPECT_EQ(db.unwritten(), 3U) << "and their session";
    EXPECT_EQ(lines.size(), 1U);
    EXPECT_EQ(times(), 1);
    EXPECT_EQ(ask(path, "PRAGMA user_version"), 99);
}

TEST_F(Schema, AVersionThatIsTooNewIsNotChanged) {
    for (const char* newer : {"UPDATE format SET value=98", "DROP TABLE format"}) {
        std::filesystem::remove(path);
        lines.clear();
        {
            TimingDb db(path);
            add(db, "k@1");
        }
        change(path, std::string("PRAGMA user_version=99; ") + newer + "; PRAGMA journal_mode=DELETE");
        TimingDb db(path, log());
        EXPECT_FALSE(db.persistent());
        EXPECT_FALSE(has(db, "k@1")) << "it may mean something else by now";
        add(db, "k@2");
        EXPECT_TRUE(has(db, "k@2"));
        ASSERT_EQ(lines.size(), 1U);
        EXPECT_NE(lines[0].find("it was written by a newer version"), std::string::npos);
        EXPECT_EQ(times(), 1);
    }
}

TEST_F(Schema, AFileOfAnotherProgramIsNotChanged) {
    for (const char* sql :
         {"CREATE TABLE t(a)", "PRAGMA application_id=7; CREATE TABLE t(a)", "PRAGMA user_version=3"}) {
        std::filesystem::remove(path);
        lines.clear();
        change(path, sql);
        const auto bytes = [&] {
            std::ifstream file(path, std::ios::binary);
            return std::string{std::istreambuf_iterator<char>(file), {}};
        };
        const std::string before = bytes();
        TimingDb db(path, log());
        EXPECT_FALSE(db.persistent());
        add(db, "k@1");
        db.record_error(problem(), "k@1", machine, test::figures(1));
        EXPECT_TRUE(has(db, "k@1"));
        EXPECT_TRUE(db.find_error(problem(), "k@1", machine));
        EXPECT_EQ(lines.size(), 1U);
        EXPECT_EQ(bytes(), before);
    }
}

TEST_F(Schema, ChangedTablesAreRefused) {
    for (const char* sql : {"DROP TABLE measurement", "ALTER TABLE measurement RENAME COLUMN median TO m2"}) {
        std::filesystem::remove(path);
        lines.clear();
        {
            TimingDb db(path);
            add(db, "k@1");
        }
        change(path, sql);
        TimingDb db(path, log());
        EXPECT_FALSE(has(db, "k@1"));
        add(db, "k@2");
        EXPECT_TRUE(has(db, "k@2"));
        EXPECT_EQ(lines.size(), 1U);
    }
}

}  // namespace
}  // namespace cairn::autotune
