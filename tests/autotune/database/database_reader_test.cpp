#include "autotune/database/database_reader.hpp"

#include "tests/autotune/database/database_file.hpp"

namespace cairn::autotune {
namespace {

using test::machine, test::policy, test::problem;

/// A file with a row for each of the kernels k0 ... k99, and their keys.
class Lookups : public test::DatabaseFile {
protected:
    void SetUp() override {
        DatabaseFile::SetUp();
        TimingDb db(path);
        for (int i = 0; i < 100; ++i) add(db, "k" + std::to_string(i));
    }
    static std::string key(int i) {
        return Key{to_string(problem()), "k" + std::to_string(i), machine.hard, {}, policy_text(policy)}.id();
    }
    /// Number of statements that `work` runs.
    template <typename F>
    static std::int64_t statements(DatabaseReader& reader, const F& work) {
        const std::int64_t before = reader.database().use()->runs();
        work();
        return reader.database().use()->runs() - before;
    }
    static void find(DatabaseReader& reader, int from, int to) {
        for (int i = from; i < to; ++i) EXPECT_EQ(reader.best_time(key(i)).has_value(), i < 100);
    }
};

TEST_F(Lookups, OneStatementEach) {
    DatabaseReader reader(path, Access::read_write, log());
    find(reader, 0, 1);
    EXPECT_EQ(statements(reader, [&] { find(reader, 0, 120); }), 120);
    EXPECT_EQ(statements(reader, [&] { find(reader, 0, 120); }), 120) << "somebody may have written";
}

TEST_F(Lookups, ASnapshotUsesOneTransactionAndReadsEachRowOnce) {
    DatabaseReader reader(path, Access::read_write, log());
    find(reader, 0, 1);
    const auto reading = [&] {
        reader.begin_snapshot();
        find(reader, 0, 120);
        find(reader, 0, 120);
        reader.end_snapshot();
    };
    // BEGIN, PRAGMA data_version, one statement for each lookup, COMMIT.
    EXPECT_EQ(statements(reader, reading), 2 + 120 + 1);
    EXPECT_EQ(statements(reader, reading), 2 + 1) << "nothing has changed since";
    {
        TimingDb db(path);
        add(db, "late");
    }
    EXPECT_EQ(statements(reader, reading), 2 + 120 + 1) << "somebody has written";
    EXPECT_EQ(statements(reader,
                         [&] {
                             reader.begin_snapshot();
                             reader.end_snapshot();
                         }),
              0);
}

TEST_F(Lookups, OpeningReadsNoTable) {
    const auto opening = [&] {
        DatabaseReader reader(path, Access::read_write, log());
        return reader.database().use()->runs();
    };
    const std::int64_t few = opening();
    {
        TimingDb db(path);
        for (int i = 0; i < 300; ++i) add(db, "more" + std::to_string(i));
    }
    EXPECT_EQ(opening(), few);
    EXPECT_LT(few, 12);
    DatabaseReader reader(path, Access::read_write, log());
    Statement plan = reader.database().use()->prepare(
        "EXPLAIN QUERY PLAN SELECT median FROM measurement WHERE key=?1 ORDER BY quality DESC, samples DESC, time "
        "DESC");
    ASSERT_TRUE(plan.step());
    EXPECT_NE(plan.text(3).find("USING INDEX measurement_by_key (key=?)"), std::string::npos) << plan.text(3);
    EXPECT_FALSE(plan.step()) << "nothing is sorted";
}

}  // namespace
}  // namespace cairn::autotune
