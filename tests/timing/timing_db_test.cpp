#include "cairn/timing_db.hpp"
#include "tests/timing/problem.hpp"
#include "timing/sqlite_file.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace cairn {
namespace {

namespace fs = std::filesystem;

using test::problem;

const TimingEnvironment machine{"machine A", "kernel 1"};
const TimingPolicy policy{2, true, "normal"};

Timing timing(double median, int samples = 9, int quality = 2) {
    Timing timing;
    timing.samples = samples;
    timing.inner = 3;
    timing.min = median * 0.9;
    timing.p10 = median * 0.95;
    timing.median = median;
    timing.p90 = median * 1.2;
    timing.mad = median * 0.01;
    timing.quality = quality;
    timing.note = "note";
    return timing;
}

/// Promised are 0.01.
ErrorFigures figures(double relative) { return {relative, 3 * relative, 1e-2, "uniform", "smaller"}; }

class TimingDbFile : public testing::Test {
protected:
    void SetUp() override {
        folder = fs::path(CAIRN_BINARY_DIR) / "timing_db_test" /
                 testing::UnitTest::GetInstance()->current_test_info()->name();
        fs::remove_all(folder);
        fs::create_directories(folder);
        path = folder / "timings.db";
    }
    std::function<void(std::string_view)> log() {
        return [this](std::string_view line) { lines.emplace_back(line); };
    }
    fs::path folder, path;
    std::vector<std::string> lines;
};

TEST_F(TimingDbFile, KeepsRowsForTheNextStart) {
    {
        TimingDb db(path, log());
        EXPECT_TRUE(db.persistent());
        EXPECT_FALSE(db.find(problem(), "k@1", machine, policy));
        db.record(problem(), "k@1", machine, policy, timing(1e-5));
    }
    const TimingDb db(path, log());
    const auto found = db.find(problem(), "k@1", machine, policy);
    EXPECT_EQ(db.find(to_string(problem()), "k@1", machine, policy)->median, found->median) << "by its text";
    EXPECT_FALSE(db.find(to_string(problem()) + " ", "k@1", machine, policy));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->median, 1e-5);
    EXPECT_EQ(found->p90, 1e-5 * 1.2);
    EXPECT_EQ(found->inner, 3);
    EXPECT_EQ(found->note, "note");
    EXPECT_EQ(db.size(), 1U);
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, EveryPartOfTheKeyCounts) {
    TimingDb db(path, log());
    db.record(problem(), "k@1", machine, policy, timing(1));
    EXPECT_FALSE(db.find(problem("matmul | f32[4,8] f32[8,3] -> f32[4,3]"), "k@1", machine, policy));
    EXPECT_FALSE(db.find(problem("matmul | f32[4,8] f32[8,2]! -> f32[4,2]"), "k@1", machine, policy));
    EXPECT_FALSE(db.find(problem("matmul | f32[4,8]:(1,4) f32[8,2] -> f32[4,2]"), "k@1", machine, policy));
    EXPECT_FALSE(db.find(problem(), "k@2", machine, policy));
    EXPECT_FALSE(db.find(problem(), "k@1", {"machine B", "kernel 1"}, policy));
    EXPECT_FALSE(db.find(problem(), "k@1", machine, {1, true, "normal"}));
    EXPECT_FALSE(db.find(problem(), "k@1", machine, {2, false, "normal"}));
    EXPECT_FALSE(db.find(problem(), "k@1", machine, {2, true, "ones"}));
    EXPECT_TRUE(db.find(problem(), "k@1", {"machine A", "kernel 2"}, policy));
}

TEST_F(TimingDbFile, TheBestRowIsFoundAndAllAreKept) {
    {
        TimingDb db(path, log());
        db.record(problem(), "k@1", machine, policy, timing(3, 50, 1));
        db.record(problem(), "k@1", machine, policy, timing(1, 5));
        db.record(problem(), "k@1", machine, policy, timing(2, 9));
        EXPECT_EQ(db.find(problem(), "k@1", machine, policy)->median, 2);
    }
    const TimingDb db(path);
    EXPECT_EQ(db.find(problem(), "k@1", machine, policy)->median, 2);
    EXPECT_EQ(db.size(), 3U);
}

TEST_F(TimingDbFile, ACorruptFileIsSetAsideWithOneLine) {
    std::ofstream(path) << std::string(8192, 'x');
    TimingDb db(path, log());
    db.record(problem(), "k@1", machine, policy, timing(1));
    EXPECT_TRUE(db.persistent());
    EXPECT_EQ(lines.size(), 1U);
    EXPECT_TRUE(fs::exists(path.string() + ".corrupt"));
    EXPECT_EQ(TimingDb(path).size(), 1U);
}

TEST_F(TimingDbFile, ADamagedPageIsNoticed) {
    {
        TimingDb db(path);
        for (int i = 0; i < 2000; ++i) db.record(problem(), "kernel" + std::to_string(i), machine, policy, timing(1));
    }
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(fs::file_size(path) / 2 / 4096 * 4096));
        file << std::string(4096, '\x5a');
    }
    TimingDb db(path, log());
    EXPECT_EQ(lines.size(), 1U);
    db.record(problem(), "k@1", machine, policy, timing(1));
    EXPECT_TRUE(db.find(problem(), "k@1", machine, policy));
}

TEST_F(TimingDbFile, WhatCannotBeUsedIsNotCachedAndSaidOnce) {
    std::ofstream(folder / "file") << "";
    for (const fs::path& bad : {folder / "file" / "timings.db", fs::path("/proc/nowhere/timings.db"), folder}) {
        lines.clear();
        TimingDb db(bad, log());
        EXPECT_FALSE(db.persistent());
        db.record(problem(), "k@1", machine, policy, timing(1));
        db.record(problem(), "k@1", machine, policy, timing(1));
        db.record_error(problem(), "k@1", machine, figures(2e-2));
        EXPECT_EQ(db.find(problem(), "k@1", machine, policy)->median, 1);
        EXPECT_EQ(db.find_error(problem(), "k@1", machine)->relative, 2e-2);
        EXPECT_TRUE(db.broken_promise(problem(), "k@1", machine));
        EXPECT_EQ(lines.size(), 1U) << bad;
    }
}

TEST_F(TimingDbFile, AnotherProgramsFileAndANewerVersionAreLeftAlone) {
    { const TimingDb db(path); }
    for (const char* change : {"PRAGMA user_version=99", "PRAGMA application_id=7"}) {
        timing::SqliteFile(path, timing::Access::read_write).execute(change);
        lines.clear();
        TimingDb db(path, log());
        EXPECT_FALSE(db.persistent());
        EXPECT_EQ(lines.size(), 1U);
        db.record(problem(), "k@1", machine, policy, timing(1));
        db.record_error(problem(), "k@1", machine, figures(1));
        EXPECT_TRUE(db.find(problem(), "k@1", machine, policy));
        EXPECT_TRUE(db.find_error(problem(), "k@1", machine));
    }
}

TEST_F(TimingDbFile, AnOlderVersionIsBroughtUpAndKeepsItsRows) {
    {
        TimingDb db(path);
        db.record(problem(), "k@1", machine, policy, timing(1));
    }
    const auto make_old = [](const fs::path& file) {
        timing::SqliteFile(file, timing::Access::read_write)
            .execute("DROP TABLE accuracy; PRAGMA user_version=1; PRAGMA journal_mode=DELETE;");
    };
    make_old(path);
    fs::copy_file(path, folder / "old.db");
    {
        TimingDb db(path, log());
        EXPECT_TRUE(db.persistent());
        EXPECT_TRUE(db.find(problem(), "k@1", machine, policy));
        db.record_error(problem(), "k@1", machine, figures(1e-3));
    }
    EXPECT_TRUE(TimingDb(path, log()).find_error(problem(), "k@1", machine));
    TimingDb other(folder / "other.db", log());
    EXPECT_EQ(other.merge(folder / "old.db"), 1U);
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, TheWorstErrorIsFoundAndAllAreKept) {
    {
        TimingDb db(path, log());
        EXPECT_FALSE(db.find_error(problem(), "k@1", machine));
        for (const double error : {2e-3, 3e-3, 1e-3}) db.record_error(problem(), "k@1", machine, figures(error));
        EXPECT_EQ(db.find_error(problem(), "k@1", machine)->relative, 3e-3);
        EXPECT_EQ(db.size(), 0U) << "of times";
    }
    const TimingDb db(path, log());
    const auto found = db.find_error(problem(), "k@1", machine);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->relative, 3e-3);
    EXPECT_EQ(found->largest, 3 * 3e-3);
    EXPECT_EQ(found->promised, 1e-2);
    EXPECT_EQ(found->inputs, "uniform");
    EXPECT_EQ(found->compared, "smaller");
    EXPECT_FALSE(db.find_error(problem("matmul | f32[4,8] f32[8,3] -> f32[4,3]"), "k@1", machine));
    EXPECT_FALSE(db.find_error(problem(), "k@2", machine));
    EXPECT_FALSE(db.find_error(problem(), "k@1", {"machine B", "kernel 1"}));
    EXPECT_TRUE(db.find_error(problem(), "k@1", {"machine A", "kernel 2"}));
    EXPECT_FALSE(db.broken_promise(problem(), "k@1", machine)) << "all were as promised";
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, ABrokenPromiseTellsOfAllSizes) {
    const auto is_broken = [](const TimingDb& db, const std::string& text, std::string_view kernel = "k@1") {
        return db.broken_promise(problem(text), kernel, machine).has_value();
    };
    {
        TimingDb db(path, log());
        db.record_error(problem(), "k@1", machine, figures(2e-3));
        db.record_error(problem(), "k@1", machine, figures(2e-2));
    }
    const TimingDb db(path, log());
    EXPECT_EQ(db.broken_promise(problem(), "k@1", machine)->relative, 2e-2);
    EXPECT_TRUE(is_broken(db, "matmul | f32[4,8]:(16,1) f32[8,3]! -> f32[4,3]"));
    EXPECT_TRUE(is_broken(db, "matmul | f32[N,8] f32[8,3]! -> f32[N,3] where N in 1..9"));
    EXPECT_FALSE(is_broken(db, "matmul | f32[4,8] f32[8,2]@panel32! -> f32[4,2]"));
    EXPECT_FALSE(is_broken(db, "matmul | bf16[4,8] bf16[8,2] -> bf16[4,2]"));
    EXPECT_FALSE(is_broken(db, "matmul | f32[4,8] f32[8,2] -> f32[4,2]", "k@2"));
    EXPECT_FALSE(db.broken_promise(problem(), "k@1", {"machine B", "kernel 1"}));
}

// A tenth of the largest error of an element counts beside that of all, and what is no number is as wrong as can be.
TEST_F(TimingDbFile, EitherFigureBreaksAPromise) {
    TimingDb db({}, log());
    ErrorFigures spike = figures(1e-3);
    spike.largest = 0.2;
    db.record_error(problem(), "spike", machine, spike);
    EXPECT_EQ(db.broken_promise(problem(), "spike", machine)->counted(), 0.02);
    ErrorFigures nan = figures(1e-3);
    nan.relative = std::nan("");
    db.record_error(problem(), "nan", machine, nan);
    EXPECT_TRUE(std::isinf(db.broken_promise(problem(), "nan", machine)->counted()));
    TimingDb file(path, log());
    file.record_error(problem(), "nan", machine, nan);
    EXPECT_TRUE(std::isinf(TimingDb(path).broken_promise(problem(), "nan", machine)->counted()));
}

TEST_F(TimingDbFile, SixteenProcessesWriteAtOnce) {
    constexpr int processes = 16, rows = 20;
    { const TimingDb db(path); }
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
        const pid_t child = fork();
        if (child == 0) {
            TimingDb db(path);
            for (int i = 0; i < rows; ++i)
                db.record(problem(), "p" + std::to_string(p) + "i" + std::to_string(i), machine, policy, timing(1));
            _exit(db.persistent() ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(TimingDb(path).size(), static_cast<std::size_t>(processes * rows));
}

TEST_F(TimingDbFile, MergeIsAUnionAndExportIsWhole) {
    const fs::path other = folder / "other.db", copy = folder / "copy.db";
    {
        TimingDb db(other);
        db.record(problem(), "k@1", machine, policy, timing(1));
        db.record(problem(), "k@2", machine, policy, timing(2));
        db.record_error(problem(), "k@1", machine, figures(2e-2));
    }
    TimingDb db(path, log());
    db.record(problem(), "k@3", machine, policy, timing(3));
    EXPECT_EQ(db.merge(other), 3U);
    EXPECT_EQ(db.find_error(problem(), "k@1", machine)->compared, "smaller");
    EXPECT_TRUE(db.broken_promise(problem(), "k@1", machine));
    EXPECT_EQ(db.merge(other), 0U);
    EXPECT_EQ(db.size(), 3U);
    EXPECT_EQ(db.find(problem(), "k@2", machine, policy)->median, 2);
    db.export_to(copy);
    EXPECT_EQ(TimingDb(copy).size(), 3U);
    EXPECT_EQ(db.merge(folder / "missing.db"), 0U);
    EXPECT_EQ(lines.size(), 1U);
}

}  // namespace
}  // namespace cairn
