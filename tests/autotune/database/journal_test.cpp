#include "autotune/database/journal.hpp"

#include "cairn/cairn.hpp"
#include "cairn/timing_file.hpp"
#include "tests/autotune/database/database_file.hpp"
#include "tests/autotune/database/process.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

namespace cairn::autotune {
namespace {

namespace fs = std::filesystem;

using test::Process;

/// Many processes write one file. A row is acknowledged when unwritten() is 0 after it.
class Processes : public test::DatabaseFile {
protected:
    static std::string kernel(int process, int i) { return "p" + std::to_string(process) + "i" + std::to_string(i); }
    /// Starts `processes` processes, each of which adds `rows` rows. Returns what they reported.
    std::string add_at_once(int processes, int rows) {
        std::vector<Process> children;
        for (int p = 0; p < processes; ++p)
            children.emplace_back([&, p](const auto& report) {
                TimingDb db(path);
                for (int i = 0; i < rows; ++i) add(db, kernel(p, i));
                if (!db.persistent() && !db.flush() && !db.persistent()) report("a file was given up; ");
                for (int i = 0; i < rows; ++i)
                    if (!has(db, kernel(p, i))) report("a row is lost; ");
            });
        std::string reports;
        for (Process& child : children) reports += child.finish();
        return reports;
    }
    void expect_sound() const { EXPECT_TRUE(TimingFile(path, TimingFile::Use::read).check().empty()); }
};

TEST_F(Processes, SixteenCreateAMissingFile) {
    for (int round = 0; round < 5; ++round) {
        for (const char* tail : {"", "-wal", "-shm"}) fs::remove(path.string() + tail);
        EXPECT_EQ(add_at_once(16, 20), "");
        EXPECT_EQ(times(), 16 * 20);
        EXPECT_EQ(ask(path, "SELECT count(*) FROM session"), 16);
    }
    expect_sound();
}

/// True if a compile that reads and writes the file completes.
bool compiles(const fs::path& path) {
    ContextOptions options;
    options.timing_db = path;
    Graph g("exp");
    g.output("y", exp(g.input("x", DType::f32, {4})));
    CompileOptions compile_options;
    compile_options.mode = Mode::normal;
    compile_options.tune_seconds = 1;
    try {
        compile(g, Context(options), compile_options);
        return true;
    } catch (const std::exception&) { return false; }
}

TEST_F(Processes, WaitWhileOneLocksForFiveSeconds) {
    constexpr std::chrono::seconds held{5};
    { const TimingDb db(path); }
    Process holder([&](const auto& report) {
        SqliteFile file(path, Access::read_write);
        const Transaction lock(file);
        std::ofstream(folder / "locked").flush();
        std::this_thread::sleep_for(held);
        if (file.ask("SELECT count(*) FROM measurement") != 0) report("somebody wrote; ");
    });
    while (!fs::exists(folder / "locked")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Process compiler([&](const auto& report) {
        if (!compiles(path)) report("a compile failed; ");
    });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(add_at_once(4, 20), "");
    EXPECT_EQ(compiler.finish(), "");
    EXPECT_EQ(holder.finish(), "");
    EXPECT_GE(std::chrono::steady_clock::now() - begin, held - std::chrono::seconds(1)) << "nobody gave up before";
    for (int p = 0; p < 4; ++p)
        for (int i = 0; i < 20; ++i) EXPECT_TRUE(file_has(kernel(p, i)));
    EXPECT_GT(times(), 4 * 20) << "and those of the compile";
}

TEST_F(Processes, EightOpenADamagedFile) {
    for (int round = 0; round < 5; ++round) {
        for (const char* tail : {"", "-wal", "-shm"}) fs::remove(path.string() + tail);
        std::ofstream(path) << std::string(20000, '\x5a');
        EXPECT_EQ(add_at_once(8, 20), "");
        EXPECT_EQ(times(), 8 * 20);
        expect_sound();
    }
}

TEST_F(Processes, DeletedFilesLoseNoRows) {
    std::vector<Process> children;
    for (int p = 0; p < 4; ++p)
        children.emplace_back([&, p](const auto&) {
            TimingDb db(path);
            for (int i = 0; i < 100; ++i) {
                add(db, kernel(p, i));
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
        for (const char* tail : {"", "-wal", "-shm"}) fs::remove(path.string() + tail);
    }
    for (Process& child : children) EXPECT_EQ(child.finish(), "");
    EXPECT_EQ(times(), 4 * 100);
    expect_sound();
}

// Processes are killed at any moment: acknowledged rows are in the file, and the file is intact.
TEST_F(Processes, TwoHundredAreKilledWithoutDamage) {
    std::minstd_rand random(1);
    std::int64_t acknowledged = 0;
    for (int p = 0; p < 200; ++p) {
        Process child([&, p](const auto& report) {
            TimingDb db(path);
            if (!db.persistent()) report("it is not open");
            for (int i = 0;; ++i) {
                add(db, kernel(p, i));
                if (db.unwritten() == 0) report("+");
            }
        });
        // One in four is killed while it opens the file, the others while they write.
        EXPECT_TRUE(child.hear(p % 4 == 0 ? 0 : 1 + random() % 20));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % (p % 4 == 0 ? 5000 : 500)));
        child.kill();
        const std::string reports = child.finish();
        EXPECT_EQ(reports.find_first_not_of('+'), reports.npos) << reports;
        acknowledged += static_cast<std::int64_t>(reports.size());
    }
    EXPECT_GT(acknowledged, 200);
    EXPECT_GE(times(), acknowledged);
    EXPECT_LE(times(), acknowledged + 200) << "the last row of each may have been written and not acknowledged";
    expect_sound();
}

TEST_F(Processes, TwoDatabasesInOneProcess) {
    TimingDb a(path, log()), b(path, log());
    std::vector<std::thread> threads;
    for (TimingDb* db : {&a, &b})
        for (int t = 0; t < 2; ++t)
            threads.emplace_back([db, t] {
                for (int i = 0; i < 50; ++i) {
                    add(*db, kernel(t + (i % 2) * 2, i));
                    has(*db, kernel(0, i));
                    const TimingDb::ReadSnapshot reading(*db);
                    has(*db, kernel(1, i));
                }
            });
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(a.flush());
    EXPECT_TRUE(b.flush());
    EXPECT_EQ(times(), 200);
}

}  // namespace
}  // namespace cairn::autotune
