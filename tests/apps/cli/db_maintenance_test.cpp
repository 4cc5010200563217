#include "tests/apps/cli/two_machines.hpp"

#include <gmock/gmock.h>

#include <fstream>

/// `cairn db check` and `gc`.
namespace cairn::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DbMaintenance : public TwoMachines {
protected:
    std::string removed(std::vector<std::string> words) const {
        words.insert(words.begin(), "gc");
        const auto reported = rows(words, "gc");
        return reported.size() == 1 ? reported[0]["removed"].get<std::string>() : "nothing told";
    }
};

TEST_F(DbMaintenance, CheckReportsNoFaults) {
    EXPECT_EQ(rows({"check"}, "check")[0]["faults"], "0");
    EXPECT_EQ(db({"check"}).out, path.string() + ": no faults\n");
}

TEST_F(DbMaintenance, CheckListsFaults) {
    change(path, "UPDATE measurement SET median=-5 WHERE samples=5");
    const Outcome outcome = db({"check", "--json"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "");
    const auto faults = rows_of(outcome, "fault");
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_THAT(faults[0]["reason"].get<std::string>(), HasSubstr("it took -5 s"));
    EXPECT_EQ(rows_of(outcome, "check")[0]["faults"], "1");
    EXPECT_THAT(db({"check"}).out, HasSubstr(": 1 faults\n"));
}

TEST_F(DbMaintenance, CheckFindsDamagedPages) {
    add_time(path, "k@5", 1e-6, machine);
    const auto bytes = std::filesystem::file_size(path);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    for (std::uintmax_t page = 4096; page < bytes; page += 4096) {
        file.seekp(static_cast<std::streamoff>(page));
        file << std::string(64, '\x7f');
    }
    file.close();
    const std::string before = read_file(path);
    const Outcome outcome = db({"check"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_EQ(read_file(path), before);
    EXPECT_THAT(files(), ElementsAre("timings.db")) << "it is not set aside";
}

TEST_F(DbMaintenance, CollectsObsoleteRows) {
    EXPECT_EQ(removed({}), "0") << "younger than a month";
    EXPECT_EQ(removed({"--before", "2024-01-01"}), "0");
    EXPECT_EQ(removed({"--before", "0s"}), "1") << "the time with fewer samples";
    EXPECT_EQ(removed({"--before", "0s"}), "0");
    const auto left = rows({"query", "--kernel", "k@1"}, "time");
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0]["cost_ns"], 2000.0);
    EXPECT_EQ(rows({"rules"}, "rule").size(), 1u);
}

TEST_F(DbMaintenance, CollectsOldRowsOnly) {
    change(path, "UPDATE measurement SET time=time-40*86400000000000 WHERE samples=5");
    EXPECT_EQ(removed({"--before", "50d"}), "0");
    EXPECT_EQ(removed({}), "1");
}

TEST_F(DbMaintenance, CollectsOtherMachines) {
    EXPECT_EQ(removed({"--keep-environment", "machine B"}), "5") << "three times, an error, a choice";
    EXPECT_EQ(rows({"query"}, "time").size(), 1u);
    add_time(path, "mine@1", 1e-6, this_machine(1));
    EXPECT_EQ(removed({"--keep-environment", "here", "--threads", "1"}), "1");
    EXPECT_EQ(rows({"query"}, "time")[0]["kernel"], "mine@1");
}

TEST_F(DbMaintenance, TheTimesOfGpusStayWithThoseOfThisMachine) {
    const TimingEnvironment gpu{"cairn 0.1.0 | cuda | NVIDIA H100 80GB HBM3 | driver 13.0 | NVRTC 13.0", ""};
    add_time(path, "gpu@1", 1e-6, gpu);
    add_time(path, "mine@1", 1e-6, this_machine(1));
    EXPECT_EQ(removed({"--keep-environment", "here", "--threads", "1"}), "6") << "those of other CPUs";
    EXPECT_EQ(rows({"query"}, "time").size(), 2u);
    EXPECT_EQ(removed({"--keep-environment", this_machine(1).hard}), "1") << "unless a pattern says otherwise";
}

TEST_F(DbMaintenance, ADryRunCountsAndChangesNothing) {
    const std::string before = text_of(path);
    const auto reported = rows({"gc", "--before", "0s", "--keep-environment", "machine A", "--dry-run"}, "gc");
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_EQ(reported[0]["removed"], "2");
    EXPECT_EQ(reported[0]["dry_run"], true);
    EXPECT_EQ(text_of(path), before);
    EXPECT_THAT(db({"gc", "--before", "0s", "--dry-run"}).out, HasSubstr("1 rows would be removed; "));
    EXPECT_THAT(db({"gc", "--before", "0s"}).out, HasSubstr("1 rows are removed; "));
    EXPECT_NE(text_of(path), before);
}

TEST_F(DbMaintenance, CollectRefusesPatternsWithoutMatch) {
    const std::string before = text_of(path);
    EXPECT_TRUE(refuses(db({"gc", "--keep-environment", "no*"}), {"no environment here matches no*"}));
    EXPECT_TRUE(refuses(db({"gc", "--keep-environment", ""}), {"pattern is empty"}));
    EXPECT_TRUE(refuses(db({"gc", "--before", "30"}), {"--before", "got 30"}));
    EXPECT_TRUE(refuses(db({"gc", "--before", "-1d"}), {"--before", "got -1d"}));
    EXPECT_EQ(text_of(path), before);
}

}  // namespace
}  // namespace cairn::test
