#include "autotune/database/database.hpp"

#include "cairn/timing_file.hpp"
#include "tests/autotune/database/database_file.hpp"
#include "tests/autotune/database/process.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

namespace cairn::autotune {
namespace {

namespace fs = std::filesystem;

using test::machine, test::problem, test::Process;
using testing::ElementsAre, testing::HasSubstr;

/// Faults of the database file: no call throws, and what was recorded is found.
class DatabaseFaults : public test::DatabaseFile {
protected:
    /// Overwrites a leaf page of the table of times, the only pages that contain notes.
    void destroy_page_of_times() const {
        constexpr std::size_t page = 4096;
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        std::vector<std::size_t> leaves;
        for (std::size_t at = 0; at < bytes.size(); at += page)
            if (bytes[at] == '\x0a' && bytes.substr(at, page).find("note") != std::string::npos) leaves.push_back(at);
        ASSERT_GT(leaves.size(), 10U);
        file.seekp(static_cast<std::streamoff>(leaves[leaves.size() / 2]));
        file << std::string(page, '\x5a');
    }
    void remove_with_companions() const {
        for (const char* tail : {"", "-wal", "-shm"}) fs::remove(path.string() + tail);
    }
};

TEST_F(DatabaseFaults, AFileThatIsNoDatabaseIsQuarantinedWithOneLogLine) {
    for (const std::string& bytes : {std::string(8192, 'x'), std::string(8192, '\0'), std::string("SQLite format 3")}) {
        lines.clear();
        remove_with_companions();
        std::ofstream(path) << bytes;
        TimingDb db(path, log());
        add(db, "k@1");
        EXPECT_TRUE(db.persistent());
        EXPECT_THAT(lines, ElementsAre(HasSubstr("set aside as .corrupt and created again with 0 rows of it")));
        EXPECT_TRUE(fs::exists(path.string() + ".corrupt"));
        EXPECT_TRUE(file_has("k@1"));
    }
}

TEST_F(DatabaseFaults, AnEmptyFileIsInitialized) {
    std::ofstream(path).flush();
    TimingDb db(path, log());
    add(db, "k@1");
    EXPECT_TRUE(file_has("k@1"));
    EXPECT_TRUE(lines.empty());
}

// The first access that finds the damage begins a new file with all rows except those on the page.
TEST_F(DatabaseFaults, ADamagedPageLosesOnlyItsRows) {
    constexpr int rows = 1000;
    const auto kernel = [](int i) { return "kernel" + std::to_string(i); };
    {
        TimingDb db(path);
        for (int i = 0; i < rows; ++i) add(db, kernel(i));
    }
    destroy_page_of_times();
    EXPECT_FALSE(TimingFile(path, TimingFile::Use::read).check().empty());
    EXPECT_FALSE(fs::exists(path.string() + ".corrupt")) << "looking changes nothing";
    TimingDb db(path, log());
    EXPECT_TRUE(lines.empty()) << "opening reads no tables";
    add(db, "new");
    for (int i = 0; i < rows; ++i) has(db, kernel(i));
    int found = 0;
    for (int i = 0; i < rows; ++i) found += has(db, kernel(i)) ? 1 : 0;
    EXPECT_LT(found, rows);
    EXPECT_GT(found, rows - 40);
    EXPECT_TRUE(has(db, "new"));
    EXPECT_THAT(lines, ElementsAre(HasSubstr("set aside as .corrupt and created again with ")));
    EXPECT_EQ(times(), found + 1);
    EXPECT_TRUE(TimingFile(path, TimingFile::Use::read).check().empty());
}

TEST_F(DatabaseFaults, AnUnusablePathIsReportedOnce) {
    std::ofstream(folder / "file") << "";
    for (const fs::path& bad : {folder / "file" / "timings.db", fs::path("/proc/nowhere/timings.db"), folder,
                                folder / "missing" / "timings.db"}) {
        lines.clear();
        TimingDb db(bad, log());
        EXPECT_FALSE(db.persistent());
        add(db, "k@1");
        add(db, "k@1");
        db.record_error(problem(), "k@1", machine, test::figures(2e-2));
        EXPECT_TRUE(has(db, "k@1"));
        EXPECT_EQ(db.find_error(problem(), "k@1", machine)->relative, 2e-2);
        EXPECT_TRUE(db.find_error_violation(problem(), "k@1", machine));
        EXPECT_FALSE(db.flush());
        EXPECT_EQ(db.unwritten(), 4U);
        EXPECT_EQ(lines.size(), 1U) << bad;
    }
}

// File names that SQLite interprets in another sense if they have no path.
TEST_F(DatabaseFaults, SpecialCharactersInAPathAreLiteral) {
    const fs::path before = fs::current_path();
    fs::current_path(folder);
    for (const char* const name :
         {":memory:", "file:t.db", "file:t.db?mode=memory", "file::memory:?cache=shared", "file:", "a?b.db", "a#b.db",
          "a%41.db", "a%.db", "%00.db", " ", "-", "a b.db", "'\".db", "\xff.db", "a\nb.db", "sub/../t.db"}) {
        fs::create_directories("sub");
        const bool is_uri = std::string_view(name).find_first_of("?#%") != std::string_view::npos;
        for (const fs::path& each : is_uri ? std::vector<fs::path>{name, folder / name} : std::vector<fs::path>{name}) {
            fs::remove_all(each);
            lines.clear();
            {
                TimingDb db(each, log());
                add(db, "k@1");
                EXPECT_TRUE(db.persistent()) << each;
            }
            EXPECT_TRUE(fs::is_regular_file(each)) << each;
            EXPECT_TRUE(has(TimingDb(each), "k@1")) << each;
            EXPECT_TRUE(has(TimingDb({}, {}, {.shipped_timings = {each}}), "k@1")) << each;
            EXPECT_EQ(TimingFile(each, TimingFile::Use::read).info().times, 1) << each;
            EXPECT_EQ(SqliteFile(each, Access::immutable).ask("SELECT count(*) FROM measurement"), 1) << each;
            fs::remove(folder / "merged.db");
            TimingFile merged(folder / "merged.db", TimingFile::Use::write);
            EXPECT_EQ(merged.merge(TimingFile(each, TimingFile::Use::read)), 2U) << each;
            fs::remove_all(each);
            merged.copy_to(each);
            EXPECT_EQ(TimingFile(each, TimingFile::Use::read).info().times, 1) << each;
            fs::remove_all(each);
            merged.write_shipped_timings(each);
            EXPECT_EQ(TimingFile(each, TimingFile::Use::write).info().times, 1) << each;
            EXPECT_TRUE(lines.empty()) << each << ": " << lines[0];
        }
    }
    fs::current_path(before);
}

// Two slashes in front name a host in a URI.
TEST_F(DatabaseFaults, APathMayBeginWithTwoSlashes) {
    { const TimingDb db(path); }
    const fs::path doubled = "/" + path.string();
    EXPECT_EQ(SqliteFile(doubled, Access::immutable).ask("SELECT count(*) FROM measurement"), 0);
    EXPECT_EQ(TimingFile(doubled, TimingFile::Use::write).info().times, 0);
}

TEST_F(DatabaseFaults, APathThatNoFileCanHaveIsRefused) {
    const fs::path before = fs::current_path();
    fs::current_path(folder);
    std::ofstream("-wal") << "mine";
    const fs::path deep = folder / std::string(200, 'd') / std::string(200, 'd') / std::string(200, 'd');
    fs::create_directories(deep);
    const std::string nul("t\0.db", 5);
    const std::vector<std::pair<fs::path, std::string>> cases{{"", "its name is empty"},
                                                              {nul, "its name holds a NUL"},
                                                              {std::string(248, 'n'), "its name has 248 bytes"},
                                                              {deep / "t.db", "its path has "},
                                                              {"sub/", ""},
                                                              {folder, ""}};
    for (const auto& [bad, reason] : cases) {
        for (const TimingFile::Use use : {TimingFile::Use::read, TimingFile::Use::write}) {
            const std::string fault = error_of([&] { TimingFile(bad, use); });
            EXPECT_NE(fault, "") << bad;
            if (use == TimingFile::Use::write || bad.native().size() < 10) {
                EXPECT_THAT(fault, HasSubstr(reason)) << bad;
            }
        }
        if (bad.empty()) continue;  // rows in memory
        lines.clear();
        TimingDb db(bad, log());
        add(db, "k@1");
        EXPECT_FALSE(db.persistent()) << bad;
        EXPECT_TRUE(has(db, "k@1")) << bad;
        EXPECT_THAT(lines, ElementsAre(HasSubstr(reason))) << bad;
    }
    EXPECT_NE(error_of([&] {
                  TimingDb(path).flush();
                  TimingFile(path, TimingFile::Use::read).copy_to("");
              }),
              "");
    EXPECT_EQ(fs::file_size("-wal"), 4U) << "no file of another is touched";
    EXPECT_FALSE(fs::exists("t"));
    const fs::path longest = std::string(247, 'n');
    TimingDb db(longest, log());
    add(db, "k@1");
    EXPECT_TRUE(db.persistent());
    EXPECT_TRUE(has(TimingDb(longest), "k@1"));
    fs::current_path(before);
}

/// A file with rows, damaged at a position that some openers find sooner than others.
class DamagedFile : public DatabaseFaults {
protected:
    static constexpr int rows = 400;
    static std::string kernel(int i) { return "kernel" + std::to_string(i); }

    void SetUp() override {
        DatabaseFaults::SetUp();
        TimingDb db(folder / "good.db");
        for (int i = 0; i < rows; ++i) add(db, kernel(i));
    }
    /// Overwrites pages, or single bytes, at offsets determined by the seed.
    void damage(unsigned seed) const {
        for (const fs::directory_entry& each : fs::directory_iterator(folder))
            if (each.path().filename() != "good.db") fs::remove(each.path());
        fs::copy_file(folder / "good.db", path);
        constexpr std::size_t page = 4096;
        const std::size_t bytes = fs::file_size(path);
        std::mt19937 random(seed);
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        for (unsigned i = 0; i <= seed % 4; ++i) {
            const bool whole = seed % 3 != 0;
            const std::size_t at = random() % (bytes / page - 1) * page + page;
            file.seekp(static_cast<std::streamoff>(whole ? at : at + random() % 16));
            file << std::string(whole ? page : 4, whole ? '\x5a' : static_cast<char>(random()));
        }
    }
    /// Works as a compile does: with `reading`, all lookups within one Reading.
    static void work(TimingDb& db, const std::string& own, bool reading) {
        std::optional<TimingDb::ReadSnapshot> held;
        if (reading) held.emplace(db);
        for (int i = 0; i < rows; ++i) has(db, kernel(i));
        add(db, own);
        for (int i = 0; i < rows; ++i) has(db, kernel(i));
    }
    std::vector<std::string> backups() const {
        std::vector<std::string> names;
        for (const fs::directory_entry& each : fs::directory_iterator(folder))
            if (each.path().filename().string().ends_with(".corrupt")) names.push_back(each.path().filename());
        return names;
    }
    /// Describes what is wrong after openers have worked, each of which added a row of its own; `messages`: the log
    /// lines of all.
    std::string fault(const std::vector<std::string>& messages, const std::vector<std::string>& own) const {
        std::string all;
        for (const std::string& line : messages) all += line + "; ";
        const auto expected_messages = std::count_if(messages.begin(), messages.end(), [](const std::string& line) {
            return line.find("set aside as") != line.npos;
        });
        if (messages.size() > 1 || expected_messages != static_cast<std::ptrdiff_t>(messages.size()))
            return "said: " + all;
        if (backups().size() != messages.size()) return "backups: " + std::to_string(backups().size());
        for (const std::string& kernel : own)
            if (!file_has(kernel)) return "lost: " + kernel + "; " + all;
        if (!messages.empty() && !TimingFile(path, TimingFile::Use::read).check().empty())
            return "the new file is damaged";
        return {};
    }
};

TEST_F(DamagedFile, IsQuarantinedOnceBySeveralThreads) {
    int found = 0;
    for (unsigned seed = 0; seed < 48; ++seed) {
        damage(seed);
        std::mutex mutex;
        lines.clear();
        const auto log = [&](std::string_view line) {
            const std::scoped_lock lock(mutex);
            lines.emplace_back(line);
        };
        std::vector<std::string> own;
        for (int i = 0; i < 3; ++i) own.push_back("own" + std::to_string(i));
        if (seed % 2 == 0) {
            // One after the other, all open.
            std::deque<TimingDb> all;
            for (int i = 0; i < 3; ++i) all.emplace_back(path, log);
            for (int i = 0; i < 3; ++i)
                work(all[static_cast<std::size_t>(i)], own[static_cast<std::size_t>(i)], seed % 8 < 4);
        } else {
            std::vector<std::thread> threads;
            for (const std::string& name : own)
                threads.emplace_back([&] {
                    TimingDb db(path, log);
                    work(db, name, seed % 8 < 4);
                });
            for (std::thread& thread : threads) thread.join();
        }
        EXPECT_EQ(fault(lines, own), "") << "seed " << seed;
        found += lines.empty() ? 0 : 1;
    }
    EXPECT_GT(found, 20);
}

TEST_F(DamagedFile, IsQuarantinedOnceBySeveralProcesses) {
    int found = 0;
    for (unsigned seed = 100; seed < 124; ++seed) {
        damage(seed);
        std::vector<std::string> own;
        std::string messages;
        {
            std::vector<Process> processes;
            for (int i = 0; i < 3; ++i) {
                own.push_back("own" + std::to_string(i));
                processes.emplace_back([&](const auto& report) {
                    TimingDb db(path, [&](std::string_view line) { report(std::string(line) + '\n'); });
                    work(db, own.back(), seed % 2 == 0);
                });
            }
            for (Process& process : processes) messages += process.finish();
        }
        lines.clear();
        std::istringstream text(messages);
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        EXPECT_EQ(fault(lines, own), "") << "seed " << seed;
        found += lines.empty() ? 0 : 1;
    }
    EXPECT_GT(found, 10);
}

TEST_F(DatabaseFaults, AFolderCreatedLaterReceivesAllRows) {
    path = folder / "later" / "timings.db";
    TimingDb db(path, log());
    EXPECT_THAT(lines, ElementsAre(HasSubstr("there is no such folder")));
    add(db, "k@1");
    fs::create_directory(folder / "later");
    EXPECT_TRUE(db.flush());
    EXPECT_TRUE(file_has("k@1"));
    EXPECT_EQ(lines.size(), 1U);
}

TEST_F(DatabaseFaults, ALockedFileReceivesRowsLater) {
    TimingDb db(path, log());
    add(db, "before");
    {
        SqliteFile other(path, Access::read_write);
        const Transaction lock(other);
        add(db, "k@1");
        add(db, "k@2");
        EXPECT_FALSE(db.flush());
        EXPECT_EQ(db.unwritten(), 2U);
        EXPECT_TRUE(db.persistent());
        EXPECT_TRUE(has(db, "k@1"));
        EXPECT_TRUE(has(db, "before"));
    }
    add(db, "k@3");
    EXPECT_EQ(db.unwritten(), 0U);
    EXPECT_EQ(times(), 4);
    EXPECT_THAT(lines, ElementsAre(HasSubstr("new timings wait in memory")));
}

TEST_F(DatabaseFaults, TheDestructorWaitsForTheLock) {
    { const TimingDb db(path); }
    SqliteFile other(path, Access::read_write);
    auto db = std::make_unique<TimingDb>(path, log());
    std::thread holder;
    {
        auto lock = std::make_unique<Transaction>(other);
        add(*db, "k@1");
        ASSERT_EQ(db->unwritten(), 2U);
        holder = std::thread([lock = std::move(lock)]() mutable {
            std::this_thread::sleep_for(std::chrono::milliseconds(400));
            lock.reset();
        });
    }
    db.reset();
    holder.join();
    EXPECT_TRUE(file_has("k@1"));
}

TEST_F(DatabaseFaults, AFileLockedDuringItsCreationIsRetried) {
    SqliteFile other(path, Access::read_write);
    auto lock = std::make_unique<Transaction>(other);
    TimingDb db(path, log());
    EXPECT_FALSE(db.persistent());
    add(db, "k@1");
    EXPECT_TRUE(has(db, "k@1"));
    lock.reset();
    EXPECT_TRUE(db.flush());
    EXPECT_TRUE(db.persistent());
    EXPECT_TRUE(file_has("k@1"));
    EXPECT_EQ(lines.size(), 1U);
}

TEST_F(DatabaseFaults, AFileDeletedWhileOpenIsCreatedAgain) {
    TimingDb db(path, log());
    add(db, "k@1");
    remove_with_companions();
    add(db, "k@2");
    EXPECT_TRUE(file_has("k@1"));
    EXPECT_TRUE(file_has("k@2"));
    fs::remove(path);  // and not its companions
    add(db, "k@3");
    EXPECT_EQ(times(), 3);
    EXPECT_TRUE(TimingFile(path, TimingFile::Use::read).check().empty());
    EXPECT_THAT(lines, ElementsAre(HasSubstr("deleted or replaced")));
}

TEST_F(DatabaseFaults, AFileDeletedBeforeTheEndAndCreatedByAnotherKeepsAllRows) {
    auto db = std::make_unique<TimingDb>(path, log());
    add(*db, "mine");
    remove_with_companions();
    TimingDb other(path);
    add(other, "theirs");
    EXPECT_TRUE(has(*db, "theirs")) << "the new file is read";
    db.reset();
    EXPECT_TRUE(file_has("mine"));
    EXPECT_TRUE(file_has("theirs"));
}

TEST_F(DatabaseFaults, WithoutNewRowsADeletedFileIsNotCreatedAgain) {
    {
        const TimingDb db(path);
        remove_with_companions();
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST_F(DatabaseFaults, AFullDiskReceivesRowsLater) {
    Process child([&](const auto& report) {
        // With the signal ignored, writes beyond the limit fail as on a full disk.
        std::signal(SIGXFSZ, SIG_IGN);
        TimingDb db(path, log());
        add(db, "first");
        rlimit limit{};
        getrlimit(RLIMIT_FSIZE, &limit);
        const rlim_t all = limit.rlim_cur;
        limit.rlim_cur = fs::file_size(path.string() + "-wal");
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 50; ++i) add(db, "k" + std::to_string(i));
        for (int i = 0; i < 50; ++i)
            if (!has(db, "k" + std::to_string(i))) report("a row is lost; ");
        if (!has(db, "first")) report("the first row is lost; ");
        if (db.unwritten() == 0) report("the disk was not full; ");
        if (lines.size() != 1) report(std::to_string(lines.size()) + " lines; ");
        limit.rlim_cur = all;
        setrlimit(RLIMIT_FSIZE, &limit);
        if (!db.flush()) report("it was not written; ");
    });
    EXPECT_EQ(child.finish(), "");
    EXPECT_EQ(times(), 51);
    EXPECT_TRUE(TimingFile(path, TimingFile::Use::read).check().empty());
}

TEST_F(DatabaseFaults, ADiskThatIsFullFromTheStart) {
    Process child([&](const auto& report) {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{};
        getrlimit(RLIMIT_FSIZE, &limit);
        const rlim_t all = std::exchange(limit.rlim_cur, 1000);
        setrlimit(RLIMIT_FSIZE, &limit);
        TimingDb db(path, log());
        add(db, "k@1");
        if (!has(db, "k@1")) report("a row is lost; ");
        if (db.flush()) report("the disk was not full; ");
        if (lines.size() != 1) report(std::to_string(lines.size()) + " lines; ");
        limit.rlim_cur = all;
        setrlimit(RLIMIT_FSIZE, &limit);
        if (!db.flush()) report("it was not written; ");
    });
    EXPECT_EQ(child.finish(), "");
    EXPECT_TRUE(file_has("k@1"));
}

/// A database in a folder that the user `nobody` may enter but not change.
class ReadOnly : public DatabaseFaults {
protected:
    void SetUp() override {
        DatabaseFaults::SetUp();
        folder = fs::temp_directory_path() / ("cairn_timing_" + std::to_string(getpid()));
        fs::remove_all(folder);
        fs::create_directory(folder);
        path = folder / "timings.db";
        TimingDb db(path);
        add(db, "k@1");
    }
    void TearDown() override {
        fs::permissions(folder, fs::perms::owner_all);
        fs::remove_all(folder);
    }
    /// Describes what an unprivileged process finds wrong with a database that it may read but not write.
    std::string as_nobody() {
        return Process([&](const auto& report) {
                   test::become_nobody();
                   TimingDb db(path, log());
                   if (db.persistent()) report("it can be written; ");
                   if (!has(db, "k@1")) report("it is not read; ");
                   add(db, "k@2");
                   add(db, "k@3");
                   if (!has(db, "k@2") || !has(db, "k@1")) report("a row is lost; ");
                   if (db.flush()) report("flush says it was written; ");
                   if (lines.size() != 1) report(std::to_string(lines.size()) + " lines; ");
                   TimingDb seed({}, log(), {.shipped_timings = {path}});
                   if (!has(seed, "k@1") || lines.size() != 1) report("as shipped timings it is not read; ");
               })
            .finish();
    }
};

TEST_F(ReadOnly, AFile) {
    fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
    fs::permissions(folder, fs::perms::all);
    EXPECT_EQ(as_nobody(), "");
    EXPECT_EQ(times(), 1);
}

TEST_F(ReadOnly, AFolder) {
    fs::permissions(path, fs::perms::all);
    fs::permissions(folder,
                    fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    EXPECT_EQ(as_nobody(), "");
}

TEST_F(ReadOnly, WhileAnotherProcessWrites) {
    fs::permissions(folder, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    TimingDb writer(path);
    add(writer, "more");
    EXPECT_EQ(as_nobody(), "");
}

TEST_F(ReadOnly, PermissionsAreUnchanged) {
    const auto mode = [&] {
        struct stat status {};
        return stat(path.c_str(), &status) == 0 ? status.st_mode & 0777u : 0u;
    };
    for (const unsigned shared : {0664u, 0640u}) {
        fs::permissions(path, static_cast<fs::perms>(shared));
        TimingDb db(path);
        add(db, "k@2");
        EXPECT_EQ(mode(), shared);
    }
}

TEST_F(ReadOnly, AFileThatBecomesWritableIsWritten) {
    if (geteuid() == 0) {
        fs::permissions(path, fs::perms::all);
        // Root may write any file, so the file is made unwritable by a schema that is too new.
        change(path, "PRAGMA user_version=99");
    } else {
        fs::permissions(path, fs::perms::owner_read);
    }
    TimingDb db(path, log());
    add(db, "k@2");
    EXPECT_FALSE(db.flush());
    EXPECT_TRUE(has(db, "k@1"));
    if (geteuid() == 0)
        change(path, "PRAGMA user_version=3");
    else
        fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_TRUE(db.flush());
    EXPECT_TRUE(file_has("k@2"));
}

TEST_F(ReadOnly, AnImmutableReadIsRepeatedWhenTheFileChanges) {
    fs::permissions(path, fs::perms::all);
    Database database(path, Access::read_only, log());
    // As in a folder where no lock can be held: only the file itself is read.
    fs::remove(path.string() + "-wal");
    fs::remove(path.string() + "-shm");
    ASSERT_NE(database.use(), nullptr);
    EXPECT_EQ(database.use()->ask("SELECT count(*) FROM measurement"), 1);
    fs::copy_file(path, folder / "copy.db");
    {
        TimingDb copy(folder / "copy.db");
        add(copy, "k@2");
    }
    fs::rename(folder / "copy.db", path);
    EXPECT_EQ(database.use()->ask("SELECT count(*) FROM measurement"), 2);
}

}  // namespace
}  // namespace cairn::autotune
