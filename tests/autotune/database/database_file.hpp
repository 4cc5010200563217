#pragma once

#include "autotune/database/sqlite_file.hpp"
#include "cairn/error.hpp"
#include "cairn/timing_db.hpp"
#include "tests/autotune/database/problem.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Fixture with a folder for a timing database, and rows to store in it.
namespace cairn::test {

inline const TimingEnvironment machine{"machine A", "kernel 1"};
inline const TimingPolicy policy{2, true, "normal"};

inline Timing timing(double median, int samples = 9, int quality = 2) {
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

/// The stated error is 0.01.
inline ErrorMeasurement figures(double relative) { return {relative, 3 * relative, 1e-2, "uniform", "smaller"}; }

class DatabaseFile : public testing::Test {
protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder = std::filesystem::path(CAIRN_BINARY_DIR) / "timing_test" / test->test_suite_name() / test->name();
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        path = folder / "timings.db";
    }
    /// Message of the Error(file) that `work` throws; empty if it throws none.
    template <typename F>
    static std::string error_of(const F& work) {
        try {
            work();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::file);
            return error.what();
        }
        return "";
    }
    std::function<void(std::string_view)> log() {
        return [this](std::string_view line) { lines.emplace_back(line); };
    }
    /// Adds a row for `kernel`, or looks for it.
    static void add(TimingDb& db, const std::string& kernel, double median = 1) {
        db.record(problem(), kernel, machine, policy, timing(median));
    }
    static bool has(const TimingDb& db, const std::string& kernel) {
        return db.find(problem(), kernel, machine, policy).has_value();
    }
    bool file_has(const std::string& kernel) const { return has(TimingDb(path), kernel); }
    static std::int64_t ask(const std::filesystem::path& file, const std::string& sql) {
        return autotune::SqliteFile(file, autotune::Access::read_only).ask(sql);
    }
    static void change(const std::filesystem::path& file, const std::string& sql) {
        autotune::SqliteFile open(file, autotune::Access::read_write);
        open.wait_for_locks(2000);
        open.execute(sql);
    }
    std::int64_t times() const { return ask(path, "SELECT count(*) FROM measurement"); }

    std::filesystem::path folder, path;
    std::vector<std::string> lines;
};

}  // namespace cairn::test
