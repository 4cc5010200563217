#include "tests/apps/cli/two_machines.hpp"

#include <gmock/gmock.h>

/// `cairn db diff`.
namespace cairn::test {
namespace {

using testing::HasSubstr;

class DbDiff : public TwoMachines {
protected:
    void SetUp() override {
        TwoMachines::SetUp();
        TimingFile(path, TimingFile::Use::read).copy_to(other);
        add_time(other, "k@1", 5e-6, machine, 90);
        add_time(other, "k@7", 7e-6, machine);
        add_time(path, "k@0", 1e-6, machine);
    }
};

TEST_F(DbDiff, ReportsRatiosAndRowsOfOneDatabaseOnly) {
    const auto found = rows({"diff", other}, "difference");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0]["kernel"], "k@0");
    EXPECT_EQ(found[0]["here_cost_ns"], 1000.0);
    EXPECT_FALSE(found[0].contains("there_cost_ns"));
    EXPECT_FALSE(found[0].contains("ratio"));
    EXPECT_EQ(found[1]["here_cost_ns"], 2000.0);
    EXPECT_EQ(found[1]["there_cost_ns"], 5000.0);
    EXPECT_DOUBLE_EQ(found[1]["ratio"].get<double>(), 2.5);
    EXPECT_EQ(found[1]["environment"], "machine A");
    EXPECT_EQ(found[2]["there_cost_ns"], 7000.0);
    const auto sums = rows({"diff", other}, "db_diff");
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(sums[0]["different"], "1");
    EXPECT_EQ(sums[0]["only_here"], "1");
    EXPECT_EQ(sums[0]["only_there"], "1");
}

TEST_F(DbDiff, IsATableForReaders) {
    EXPECT_EQ(db({"diff", other}).out,
              "     here     there   ratio\n"
              "     1 us      none          k@0 | exp | f32[64] -> f32[64]\n"
              "     2 us      5 us     2.5  k@1 | exp | f32[64] -> f32[64]\n"
              "     none      7 us          k@7 | exp | f32[64] -> f32[64]\n"
              "1 are known to both and differ, 1 are only here, 1 only there\n");
}

TEST_F(DbDiff, InvalidTimesHaveNoRatio) {
    Timing censored;
    censored.status = TimingStatus::censored;
    censored.bound = 2;
    censored.quality = 3;
    TimingDb(other).record(problem(exp_64), "k@1", machine, policy, censored);
    const auto found = rows({"diff", other}, "difference");
    EXPECT_EQ(found[1]["there_at_least_ns"], 2e9);
    EXPECT_FALSE(found[1].contains("ratio"));
    EXPECT_THAT(db({"diff", other}).out, HasSubstr("     2 us     > 2 s          k@1"));
}

TEST_F(DbDiff, OfEqualDatabasesIsEmpty) {
    const std::string copy = (folder / "copy.db").string();
    TimingFile(path, TimingFile::Use::read).copy_to(copy);
    EXPECT_TRUE(rows({"diff", copy}, "difference").empty());
    EXPECT_EQ(db({"diff", copy}).out, "0 are known to both and differ, 0 are only here, 0 only there\n");
    EXPECT_TRUE(refuses(db({"diff", (folder / "none.db").string()}), {"no database", "none.db"}));
    EXPECT_TRUE(refuses(db({"diff"}), {"other"}));
}

}  // namespace
}  // namespace cairn::test
