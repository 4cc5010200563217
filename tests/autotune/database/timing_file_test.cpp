#include "cairn/timing_file.hpp"

#include "autotune/measurement/calibration_records.hpp"
#include "cairn/context.hpp"
#include "cairn/error.hpp"
#include "tests/autotune/database/database_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>
#include <sstream>

namespace cairn {
namespace {

namespace fs = std::filesystem;

using test::figures, test::machine, test::policy, test::problem, test::timing;
using testing::ElementsAre, testing::HasSubstr;
using Use = TimingFile::Use;

const TimingEnvironment other_machine{"machine B", "kernel 1"};

class TimingFiles : public test::DatabaseFile {
protected:
    void SetUp() override {
        DatabaseFile::SetUp();
        TimingDb db(path, log(), {.program = "test \"1\"\n"});
        db.record(problem(), "k@1", machine, policy, timing(1. / 3, 5));
        db.record(problem(), "k@1", machine, policy, timing(2, 9));
        db.record(problem(), "k@2", other_machine, policy, timing(3));
        Timing failed;
        failed.status = TimingStatus::failed;
        failed.note = "out of memory";
        db.record(problem("exp | f32[4] -> f32[4]"), "k@3", machine, {1, false, "ones"}, failed);
        ErrorMeasurement infinite = figures(1);
        infinite.largest = std::numeric_limits<double>::infinity();
        db.record_error(problem(), "k@1", machine, infinite);
        db.record_error(problem(), "k@1", machine, figures(1e-3));
        db.record_choice("q", machine, policy, {"a", 0.9, 0.85, 0.95, 30});
        db.record_choice("q", machine, policy, {"b", 1.1, 1, 1.2, 30});
        db.add_rule({"k@?", "matmul *", RuleAction::ban, "slow"});
        db.add_rule({"k@3", "*", RuleAction::pin, "it is mine"});
        db.remove_rule("k@3", "*");
    }
    TimingFile reading() const { return {path, Use::read}; }
    static std::string text_of(const TimingFile& file) {
        std::ostringstream out;
        file.export_rows(out);
        return out.str();
    }
};

TEST_F(TimingFiles, Info) {
    const TimingFileInfo info = reading().info();
    EXPECT_EQ(info.version, 3);
    EXPECT_EQ(info.times, 4);
    EXPECT_EQ(info.errors, 2);
    EXPECT_EQ(info.choices, 2);
    EXPECT_EQ(info.rules, 3);
    EXPECT_EQ(info.sessions, 3) << "two machines, and rules of any";
    EXPECT_EQ(info.problems, 2);
    EXPECT_EQ(info.kernels, 3);
    EXPECT_GT(info.oldest, 0);
    EXPECT_GT(info.newest, info.oldest);
    EXPECT_EQ(info.bytes, fs::file_size(path));
    ASSERT_EQ(info.environments.size(), 2U);
    EXPECT_EQ(info.environments[0].first.hard, "machine A");
    EXPECT_EQ(info.environments[0].second, 3);
}

TEST_F(TimingFiles, Sessions) {
    const std::vector<TimingSession> sessions = reading().sessions();
    ASSERT_EQ(sessions.size(), 3U);
    EXPECT_EQ(sessions[2].program, "test \"1\"\n");
    EXPECT_EQ(sessions[2].environment.hard, "machine A");
    EXPECT_EQ(sessions[2].version, version());
    EXPECT_EQ(sessions[2].times, 3);
    EXPECT_EQ(sessions[2].errors, 2);
    EXPECT_EQ(sessions[2].choices, 2);
    EXPECT_EQ(sessions[1].times, 1);
}

TEST_F(TimingFiles, Query) {
    const auto count = [&](const TimingFilter& filter) { return reading().query(filter).size(); };
    EXPECT_EQ(count({}), 4U);
    EXPECT_EQ(count({.kernel = "k@1"}), 2U);
    EXPECT_EQ(count({.kernel = "k@1", .best_only = true}), 1U);
    EXPECT_EQ(count({.problem = "exp *"}), 1U);
    EXPECT_EQ(count({.environment = "* B"}), 1U);
    EXPECT_EQ(count({.policy = "*hot*"}), 1U);
    EXPECT_EQ(count({.since = reading().info().newest}), 1U);
    EXPECT_EQ(count({.since = reading().info().newest + 1}), 0U);
    const std::vector<TimingRecord> rows = reading().query();
    EXPECT_EQ(rows[0].timing.note, "out of memory");
    EXPECT_EQ(rows[0].policy, "threads=1 hot inputs=ones");
    EXPECT_EQ(rows[1].kernel, "k@1");
    EXPECT_EQ(rows[1].timing.median, 2) << "the best first";
    EXPECT_EQ(rows[2].timing.median, 1. / 3);
    EXPECT_EQ(rows[3].hard, "machine B");
}

TEST_F(TimingFiles, CalibrationRecordsAreListedOnlyOnRequest) {
    const TimingFileInfo before = reading().info();
    const std::vector<TimingRecord> times = reading().query();
    {
        TimingDb db(path, log());
        Calibration figures;
        figures.flops = figures.unit_flops[0] = 1e9;
        figures.bandwidth = figures.cache_bandwidth = 1e10;
        figures.timer_seconds = 1e-8;
        cairn::autotune::record_calibration(db, machine, policy, {figures, true});
        EXPECT_EQ(db.size(), times.size());
        EXPECT_TRUE(cairn::autotune::stored_calibration(db, machine, policy));
    }
    const TimingFile file = reading();
    EXPECT_EQ(file.query().size(), times.size());
    for (const TimingRecord& record : file.query()) {
        const auto symbols = Symbols::create();
        EXPECT_NO_THROW(parse_problem(record.problem, *symbols)) << record.problem;
    }
    TimingFilter filter;
    filter.with_calibrations = true;
    EXPECT_EQ(file.query(filter).size(), times.size() + 9);
    filter.problem = "machine |";
    for (const TimingRecord& record : file.query(filter)) EXPECT_TRUE(record.kernel.starts_with("machine."));
    EXPECT_EQ(file.query(filter).size(), 9U);
    const TimingFileInfo info = file.info();
    EXPECT_EQ(info.times, before.times);
    EXPECT_EQ(info.calibrations, 9);
    EXPECT_EQ(before.calibrations, 0);
    EXPECT_EQ(info.problems, before.problems);
    EXPECT_EQ(info.kernels, before.kernels);
    EXPECT_EQ(info.newest, before.newest);
    ASSERT_EQ(info.environments.size(), before.environments.size());
    for (std::size_t i = 0; i < info.environments.size(); ++i)
        EXPECT_EQ(info.environments[i].second, before.environments[i].second);
    std::int64_t of_all = 0;
    for (const TimingSession& session : file.sessions()) of_all += session.times;
    EXPECT_EQ(of_all, before.times);
    EXPECT_NE(text_of(file).find("\"machine |\""), std::string::npos) << "they go where the rows go";
}

TEST_F(TimingFiles, TextRoundTripsExactly) {
    const std::string text = text_of(reading());
    TimingFile other(folder / "other.db", Use::write);
    std::istringstream in(text);
    EXPECT_EQ(other.import_rows(in), 14U);
    EXPECT_EQ(text_of(other), text);
    std::istringstream again(text);
    EXPECT_EQ(other.import_rows(again), 0U) << "all are there";
    EXPECT_EQ(other.rules(), reading().rules());
    EXPECT_TRUE(other.differences(reading()).empty());
    const TimingDb db(folder / "other.db", log());
    EXPECT_EQ(db.find(problem(), "k@1", machine, policy)->median, 2);
    EXPECT_EQ(db.find_choice("q", machine, policy)->answer, "b");
    EXPECT_EQ(db.find_error(problem(), "k@1", machine)->largest, std::numeric_limits<double>::infinity());
    EXPECT_TRUE(db.find_error_violation(problem("matmul | f32[9,8] f32[8,2] -> f32[9,2]"), "k@1", machine));
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingFiles, InvalidTextAddsNothing) {
    const std::string good = text_of(reading());
    std::string line;
    std::istringstream all(good);
    while (line.find("\"samples\":9,") == line.npos) ASSERT_TRUE(std::getline(all, line));
    const auto swapped = [&](const std::string& from, const std::string& to) {
        std::string text = line;
        EXPECT_NE(text.find(from), text.npos) << from;
        return text.replace(text.find(from), from.size(), to);
    };
    const auto refused = [&](const std::string& bad) {
        TimingFile other(folder / "other.db", Use::write);
        std::istringstream in(good + bad + "\n");
        const std::string error = error_of([&] { other.import_rows(in); });
        EXPECT_EQ(other.info().times, 0) << "of all or none";
        return error;
    };
    EXPECT_THAT(refused("nonsense"), HasSubstr("line 15 of the rows to add is not valid JSON"));
    EXPECT_THAT(refused("[1]"), HasSubstr("is not a JSON object"));
    EXPECT_THAT(refused("{}"), HasSubstr("lacks row"));
    EXPECT_THAT(refused(swapped("\"time\"", "\"tune\"")), HasSubstr("is a row of an unknown kind"));
    EXPECT_THAT(refused(swapped("\"samples\":", "\"samples\":-")), HasSubstr("has no count for samples"));
    EXPECT_THAT(refused(swapped("\"samples\":", "\"samples\":0.")), HasSubstr("has no integer for samples"));
    EXPECT_THAT(refused(swapped("\"kernel\":\"", "\"kernel\":1,\"k\":\"")), HasSubstr("has no text for kernel"));
    EXPECT_THAT(refused(swapped("\"status\":\"", "\"status\":\"x")), HasSubstr("its status is 3"));
    EXPECT_THAT(refused(swapped("\"session\":\"", "\"session\":\"x")), HasSubstr("has no digest for session"));
    EXPECT_THAT(refused(swapped("\"mad\":", "\"mad\":\"inf\",\"m\":")), HasSubstr("it holds the number inf"));
    TimingFile other(folder / "other.db", Use::write);
    std::istringstream in(good + "\n");
    EXPECT_EQ(other.import_rows(in), 14U) << "empty lines are no rows";
}

TEST_F(TimingFiles, MergeIsAUnion) {
    const fs::path other = folder / "other.db";
    {
        TimingDb db(other);
        db.record(problem(), "k@1", machine, policy, timing(7, 90));
        db.record(problem(), "k@9", machine, policy, timing(1));
    }
    TimingFile file(path, Use::write);
    EXPECT_EQ(file.merge({other, Use::read}), 3U) << "and their session";
    EXPECT_EQ(file.merge({other, Use::read}), 0U);
    EXPECT_EQ(file.merge(reading()), 0U) << "itself";
    EXPECT_EQ(file.info().times, 6);
    EXPECT_EQ(TimingDb(path).find(problem(), "k@1", machine, policy)->median, 7) << "more samples";
    EXPECT_EQ(text_of(file).find("k@8"), std::string::npos);
}

TEST_F(TimingFiles, Differences) {
    const fs::path other = folder / "other.db";
    reading().copy_to(other);
    {
        TimingDb db(other);
        db.record(problem(), "k@1", machine, policy, timing(7, 90));
        db.record(problem(), "k@9", machine, policy, timing(1));
    }
    {
        TimingDb db(path);
        db.record(problem(), "k@0", machine, policy, timing(1));
    }
    const std::vector<TimingDifference> found = reading().differences({other, Use::read});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].here->kernel, "k@0");
    EXPECT_FALSE(found[0].there);
    EXPECT_EQ(found[1].here->timing.median, 2);
    EXPECT_EQ(found[1].there->timing.median, 7);
    EXPECT_FALSE(found[2].here);
    EXPECT_EQ(found[2].there->kernel, "k@9");
}

TEST_F(TimingFiles, ACopyIsOneCompleteFile) {
    const fs::path copy = folder / "copy.db";
    TimingDb open(path);
    add(open, "late");
    reading().copy_to(copy);
    EXPECT_EQ(text_of({copy, Use::read}), text_of(reading()));
    EXPECT_FALSE(fs::exists(copy.string() + "-wal"));
    std::ifstream file(copy, std::ios::binary);
    std::string header(20, '\0');
    file.read(header.data(), 20);
    EXPECT_EQ(header[18], 1) << "read without a write-ahead log, so without a folder that can be written";
    EXPECT_THAT(error_of([&] { reading().copy_to(copy); }), HasSubstr("already exists"));
}

TEST_F(TimingFiles, ObsoleteOldRowsAreRemoved) {
    TimingFile file(path, Use::write);
    EXPECT_EQ(file.collect({}), 0U);
    const std::int64_t end = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(file.collect({.before = end}), 3U) << "one of k@1, the smaller error, the first choice";
    const TimingFileInfo info = file.info();
    EXPECT_EQ(info.times, 3);
    EXPECT_EQ(info.errors, 1);
    EXPECT_EQ(info.choices, 1);
    EXPECT_EQ(info.rules, 3);
    EXPECT_EQ(TimingDb(path).find(problem(), "k@1", machine, policy)->median, 2);
    EXPECT_EQ(TimingDb(path).find_choice("q", machine, policy)->answer, "b");
    EXPECT_TRUE(file.check().empty());
}

TEST_F(TimingFiles, OtherEnvironmentsAreRemoved) {
    TimingFile file(path, Use::write);
    EXPECT_EQ(file.collect({.keep_environment = "machine B"}), 7U);
    const TimingFileInfo info = file.info();
    EXPECT_EQ(info.times, 1);
    EXPECT_EQ(info.errors + info.choices, 0);
    EXPECT_EQ(info.problems, 1);
    EXPECT_EQ(info.kernels, 1);
    EXPECT_EQ(info.sessions, 2) << "that of the rules is no machine's";
    EXPECT_EQ(file.query()[0].hard, "machine B");
    EXPECT_TRUE(file.check().empty());
}

TEST_F(TimingFiles, FurtherEnvironmentsMayBeKept) {
    TimingFile file(path, Use::write);
    EXPECT_EQ(file.collect({.keep_environment = "machine B", .keep_also = {"none", "machine*"}}), 0U);
    EXPECT_EQ(file.collect({.keep_environment = "none", .keep_also = {"*B"}}), 7U);
    EXPECT_EQ(file.query()[0].hard, "machine B");
}

TEST_F(TimingFiles, CheckListsInvalidRows) {
    EXPECT_TRUE(reading().check().empty());
    change(path,
           "UPDATE measurement SET median=-5 WHERE samples=5; UPDATE choice SET samples='x' WHERE answer='a';"
           "DELETE FROM problem WHERE text LIKE 'exp%'");
    EXPECT_THAT(reading().check(),
                ElementsAre(testing::AnyOf(HasSubstr("it took -5 s"), HasSubstr("a row it refers to is missing")),
                            testing::AnyOf(HasSubstr("it took -5 s"), HasSubstr("a row it refers to is missing")),
                            HasSubstr("it has -1 samples")));
    EXPECT_EQ(reading().query().size(), 2U);
    TimingFile other(folder / "other.db", Use::write);
    EXPECT_EQ(other.merge(reading()), 11U) << "nonsense stays where it is";
}

TEST_F(TimingFiles, CheckComparesRowsWithTheirIds) {
    ASSERT_TRUE(TimingFile(path, TimingFile::Use::read).check().empty());
    for (const char* const changed :
         {"UPDATE measurement SET median=median*1.0001", "UPDATE measurement SET time=time+1",
          "UPDATE choice SET answer='b'", "UPDATE rule SET kernel='other'"}) {
        std::filesystem::copy_file(path, folder / "changed.db", std::filesystem::copy_options::overwrite_existing);
        for (const char* const tail : {"-wal", "-shm"})
            std::filesystem::remove(folder / ("changed.db" + std::string(tail)));
        change(folder / "changed.db", changed);
        const std::vector<std::string> faults = TimingFile(folder / "changed.db", TimingFile::Use::read).check();
        ASSERT_FALSE(faults.empty()) << changed;
        EXPECT_THAT(faults[0], HasSubstr("its id is not the digest of")) << changed;
    }
}

TEST_F(TimingFiles, RulesOfAFile) {
    const KernelRule ban{"k@?", "matmul *", RuleAction::ban, "slow"}, pin{"x", "*", RuleAction::pin, "why"};
    TimingFile file(path, Use::write);
    EXPECT_EQ(file.rules(), std::vector{ban});
    file.add_rule(pin);
    EXPECT_EQ(reading().rules(), (std::vector{ban, pin}));
    EXPECT_TRUE(file.remove_rule("k@?", "matmul *"));
    EXPECT_FALSE(file.remove_rule("k@?", "matmul *"));
    EXPECT_EQ(TimingDb(path).rules(), std::vector{pin});
}

TEST_F(TimingFiles, FaultsAreErrors) {
    const fs::path missing = folder / "missing.db", text = folder / "text";
    std::ofstream(text) << std::string(1000, 'x');
    EXPECT_THAT(error_of([&] { TimingFile(missing, Use::read); }), HasSubstr("missing.db: there is no such file"));
    EXPECT_FALSE(fs::exists(missing));
    EXPECT_THAT(error_of([&] { TimingFile(folder / "none" / "x.db", Use::write); }),
                HasSubstr("there is no such folder"));
    EXPECT_THAT(error_of([&] { TimingFile(text, Use::read); }), HasSubstr("not a database"));
    EXPECT_THAT(error_of([&] { TimingFile(text, Use::write); }), HasSubstr("not a database"));
    EXPECT_TRUE(fs::exists(text)) << "it is left where it is";
    change(missing, "CREATE TABLE t(a)");
    EXPECT_THAT(error_of([&] { TimingFile(missing, Use::write); }), HasSubstr("it belongs to another program"));
    TimingFile file = reading();
    EXPECT_THAT(error_of([&] { file.add_rule({}); }), HasSubstr("may only be read"));
    EXPECT_THAT(error_of([&] { file.collect({}); }), HasSubstr("may only be read"));
}

}  // namespace
}  // namespace cairn
