#include "autotune/measurement/calibration_records.hpp"
#include "cairn/error.hpp"
#include "cairn/timing_file.hpp"
#include "tests/autotune/database/calibrations.hpp"
#include "tests/autotune/database/database_file.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

namespace cairn {
namespace {

namespace fs = std::filesystem;

using test::figures, test::policy, test::problem, test::timing;
using testing::HasSubstr;
using Use = TimingFile::Use;

const TimingEnvironment first{"first", "kernel 1"}, second{"second", ""};

/// Calibration of a machine that is disturbed by other work and has no AVX-512.
Calibration calibration() {
    Calibration made = test::calibration();
    made.unit_flops[index_of(Unit::f32_avx512)] = 0;
    made.flops = made.unit_flops[index_of(Unit::f32_avx2)];
    made.noise = 0.3;
    return made;
}

/// A database with rows to be shipped, and others.
class ShippedTimingsFileTest : public test::DatabaseFile {
protected:
    void SetUp() override {
        DatabaseFile::SetUp();
        shipped = folder / "shipped_timings.db";
        TimingDb db(path, log());
        db.record(problem(), "k@1", first, policy, timing(3, 5));
        db.record(problem(), "k@1", first, policy, timing(2, 9));
        db.record(problem(), "k@1", second, policy, timing(4));
        db.record(problem(), "busy@1", first, policy, timing(1, 9, 1));
        Timing uneven = timing(1);
        uneven.p90 = 2;
        db.record(problem(), "uneven@1", first, policy, uneven);
        Timing failed, slow;
        failed.status = TimingStatus::failed;
        slow.status = TimingStatus::censored;
        slow.bound = 9;
        db.record(problem(), "failed@1", first, policy, failed);
        db.record(problem(), "slow@1", first, policy, slow);
        db.record_error(problem(), "k@1", first, figures(1e-3));
        db.record_error(problem(), "k@1", first, figures(2e-3));
        db.record_choice("q", first, policy, {"a", 0.9, 0.85, 0.95, 30});
        db.add_rule({"k@?", "matmul *", RuleAction::ban, "slow"});
        db.add_rule({"k@3", "*", RuleAction::pin, "it is mine"});
        db.remove_rule("k@3", "*");
        for (const TimingEnvironment& environment : {first, second})
            autotune::record_calibration(db, environment, policy, {calibration(), true});
        autotune::record_calibration(db, {"of no kernel's time", ""}, policy, {calibration(), true});
    }
    TimingFileInfo write(const ShippedTimingsOptions& options = {}) const {
        return TimingFile(path, Use::read).write_shipped_timings(shipped, options);
    }
    std::vector<TimingRecord> kernels() const { return TimingFile(shipped, Use::read).query({.problem = "matmul *"}); }

    fs::path shipped;
};

TEST_F(ShippedTimingsFileTest, ContainsTheBestReliableRowOfEachCall) {
    const TimingFileInfo info = write();
    const std::vector<TimingRecord> rows = kernels();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].kernel, "k@1");
    EXPECT_EQ(rows[0].hard, "first");
    EXPECT_EQ(rows[0].soft, "kernel 1");
    EXPECT_EQ(rows[0].timing.median, 2);
    EXPECT_EQ(rows[1].timing.median, 4);
    EXPECT_EQ(rows[2].kernel, "slow@1");
    EXPECT_EQ(rows[2].timing.bound, 9);
    EXPECT_EQ(info.errors, 1);
    EXPECT_EQ(info.choices, 0);
    EXPECT_EQ(info.rules, 0);
    EXPECT_EQ(info.sessions, 2) << "who measured";
    EXPECT_EQ(info.bytes, fs::file_size(shipped));
    const TimingDb db("", log(), {.shipped_timings = {shipped}});
    EXPECT_EQ(db.find_error(problem(), "k@1", first)->relative, 2e-3) << "the largest";
    EXPECT_TRUE(lines.empty());
}

TEST_F(ShippedTimingsFileTest, ContainsCalibrationsOnlyOfItsMachines) {
    write();
    const TimingDb db("", log(), {.shipped_timings = {shipped}});
    for (const TimingEnvironment& environment : {first, second}) {
        const auto machine = autotune::stored_calibration(db, environment, policy);
        ASSERT_TRUE(machine) << "uneven blocks of it and all";
        EXPECT_DOUBLE_EQ(machine->machine.flops, 4e9);
    }
    EXPECT_FALSE(autotune::stored_calibration(db, {"of no kernel's time", ""}, policy));
    const std::vector<TimingEnvironment> environments = db.shipped_environments();
    ASSERT_EQ(environments.size(), 2U);
    EXPECT_EQ(environments[1].hard, "second");
}

TEST_F(ShippedTimingsFileTest, ContainsTheRequestedRows) {
    write({.times = {.environment = "second"}});
    EXPECT_EQ(kernels().size(), 1U);
    fs::remove(shipped);
    EXPECT_EQ(write({.errors = false}).errors, 0);
    fs::remove(shipped);
    write({.min_quality = 1, .max_spread = 2});
    EXPECT_EQ(kernels().size(), 5U) << "all but the one that failed";
    fs::remove(shipped);
    EXPECT_EQ(write({.rules = true}).rules, 1);
    EXPECT_EQ(TimingFile(shipped, Use::read).rules().size(), 1U) << "what was lifted is not there";
}

TEST_F(ShippedTimingsFileTest, IsReadableInAReadOnlyFolder) {
    write();
    EXPECT_EQ(ask(shipped, "PRAGMA user_version"), 3);
    for (const char* tail : {"-wal", "-shm", "-journal"}) EXPECT_FALSE(fs::exists(shipped.string() + tail)) << tail;
    std::ifstream file(shipped, std::ios::binary);
    file.seekg(18);
    EXPECT_EQ(file.get(), 1) << "the rollback journal, which needs no companions to be read";
    fs::permissions(shipped, fs::perms::owner_read);
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    {
        const TimingDb db("", log(), {.shipped_timings = {shipped}});
        EXPECT_TRUE(db.find(problem(), "k@1", first, policy));
        EXPECT_EQ(TimingFile(shipped, Use::read).check().size(), 0U);
    }
    fs::permissions(folder, fs::perms::owner_all);
    EXPECT_TRUE(lines.empty());
}

TEST_F(ShippedTimingsFileTest, DoesNotReplaceFilesAndRemovesPartialOnes) {
    std::ofstream(shipped) << "mine";
    EXPECT_THAT(error_of([&] { write(); }), HasSubstr("shipped_timings.db: File exists"));
    EXPECT_EQ(fs::file_size(shipped), 4U);
    fs::remove(shipped);
    EXPECT_THAT(error_of([&] { write({.max_bytes = 1000}); }), HasSubstr("bytes exceed the limit of 1000"));
    EXPECT_FALSE(fs::exists(shipped));
    EXPECT_THAT(
        error_of([&] { TimingFile(path, Use::read).write_shipped_timings(folder / "no" / "shipped_timings.db"); }),
        HasSubstr("No such file"));
}

TEST_F(ShippedTimingsFileTest, ListsTheBestTimesOfAnEnvironmentAndPolicy) {
    write();
    const TimingDb db(path, log(), {.shipped_timings = {shipped, path}});
    const std::vector<ShippedTiming> times = db.shipped_timings_of(first, policy);
    const auto count = [&](std::string_view kernel) {
        return std::count_if(times.begin(), times.end(),
                             [&](const ShippedTiming& time) { return time.kernel == kernel; });
    };
    EXPECT_EQ(count("k@1"), 1);
    EXPECT_EQ(count("busy@1"), 1) << "the other file of shipped timings has it";
    for (const ShippedTiming& time : times)
        if (time.kernel == "k@1") {
            EXPECT_EQ(time.timing.median, 2);
            EXPECT_EQ(time.problem, to_string(problem()));
        }
    EXPECT_TRUE(db.shipped_timings_of(first, {7, true, "normal"}).empty());
    EXPECT_TRUE(db.shipped_timings_of({"third", ""}, policy).empty());
    EXPECT_TRUE(TimingDb(path).shipped_timings_of(first, policy).empty()) << "its own rows are not shipped timings";
    EXPECT_TRUE(TimingDb(path).shipped_environments().empty());
}

}  // namespace
}  // namespace cairn
