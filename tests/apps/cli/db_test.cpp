#include "tests/apps/cli/two_machines.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

/// `cairn db`, and `cairn tune`, which fills its database.
namespace cairn::test {
namespace {

using testing::HasSubstr;

class DbCommand : public testing::Test {
protected:
    Outcome tuned(std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"tune", graph, "--db", database, "--json"});
        return cairn_command(more);
    }
    TempFolder temp;
    std::string graph = temp.write("g.cairn", layer_text()).string(), database = (temp / "times.db").string();
};

TEST_F(DbCommand, ContainsTheTimesOfTuning) {
    const Outcome first = tuned();
    EXPECT_TRUE(succeeds(first));
    const auto reported = rows_of(first, "tune");
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_EQ(reported[0]["db"], database);
    const auto buckets = rows_of(first, "bucket");
    ASSERT_EQ(buckets.size(), 1u);
    EXPECT_EQ(buckets[0]["measured"], buckets[0]["instructions"]);
    EXPECT_GT(buckets[0]["cost_ns"].get<double>(), 0);
    const std::string measured = reported[0]["measured"].get<std::string>();
    EXPECT_GT(std::stoi(measured), 0);

    const auto info = rows_of(cairn_command({"db", "info", "--db", database, "--json"}), "db");
    ASSERT_EQ(info.size(), 1u);
    EXPECT_EQ(info[0]["times"], measured);
    EXPECT_NE(info[0]["figures"], "0") << "the machine was calibrated";
    EXPECT_EQ(info[0]["wal"], true);
    EXPECT_THAT(cairn_command({"db", "info", "--db", database}).out, HasSubstr(measured + " times"));

    const Outcome second = tuned();
    EXPECT_EQ(rows_of(second, "tune")[0]["measured"], "0") << "all is known";
    EXPECT_EQ(rows_of(second, "bucket"), buckets);
}

TEST_F(DbCommand, PrintsTheTimesOfAProblem) {
    tuned();
    const Outcome cached = cairn_command({"explain", graph, "--mode", "cached", "--db", database, "--json"});
    std::string kernel, problem;
    for (const auto& row : rows_of(cached, "instruction"))
        if (row["once"] == false && row["measured"] == true) kernel = row["kernel"], problem = row["problem"];
    ASSERT_NE(kernel, "");
    const std::string symbolic = problem.substr(0, problem.find(" where "));
    const auto query = [&](char size, std::vector<std::string> more) {
        std::string sized = symbolic;
        for (std::size_t at = 0; (at = sized.find("[N,", at)) != std::string::npos;) sized[at + 1] = size;
        more.insert(more.begin(), {"db", "query", sized, "--db", database, "--json"});
        const Outcome found = cairn_command(more);
        EXPECT_TRUE(succeeds(found));
        return rows_of(found, "time");
    };
    int measured = 0;
    for (char size = '1'; size <= '8'; ++size) {
        for (const auto& row : query(size, {"--kernel", kernel, "--threads", "1"})) {
            ++measured;
            EXPECT_EQ(row["kernel"], kernel);
            EXPECT_GT(row["cost_ns"].get<double>(), 0);
            EXPECT_GE(query(size, {"--threads", "1"}).size(), 1u);
        }
        EXPECT_EQ(query(size, {"--threads", "2"}).size(), 0u) << "times of other threads are other times";
    }
    EXPECT_GE(measured, 1) << problem;
}

TEST_F(DbCommand, RefusesInvalidQueries) {
    tuned();
    const auto query = [&](const std::string& problem, std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"db", "query", problem, "--db", database});
        return cairn_command(more);
    };
    EXPECT_TRUE(refuses(query("exp | f32[N] -> f32[N]"), {"constant sizes"}));
    EXPECT_TRUE(refuses(query("nothing | f32[4] -> f32[4]"), {"no kernel for nothing"}));
    EXPECT_TRUE(refuses(query("exp | f32[4] -> f32[4]", {"--kernel", "x@1"}), {"no kernel x@1"}));
    EXPECT_TRUE(refuses(query("exp | f32["), {"column"}));
    EXPECT_TRUE(refuses(cairn_command({"db", "info", "--db", graph}), {"is not a database"}));
    EXPECT_EQ(read_file(graph), layer_text());
}

TEST_F(DbCommand, CreatesTheDatabaseOfTheUserByDefault) {
    const Outcome outcome = cairn_command({"tune", graph, "--json"});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_THAT(rows_of(outcome, "tune")[0]["db"].get<std::string>(), HasSubstr("/cache/cairn/timings.db"));
}

TEST_F(DbCommand, WithoutABudgetNothingIsMeasured) {
    EXPECT_EQ(rows_of(tuned({"--budget", "0s"}), "tune")[0]["measured"], "0");
}

/// Common behaviour of all subcommands of `cairn db`.
class DbCommands : public TwoMachines {
protected:
    /// Command lines that read a database, without its path.
    std::vector<std::vector<std::string>> readers() {
        TimingFile(path, TimingFile::Use::read).copy_to(other);
        return {{"db", "info"},          {"db", "query"},
                {"db", "query", exp_64}, {"db", "export"},
                {"db", "diff", other},   {"db", "check"},
                {"db", "rules"},         {"db", "ship", (folder / "shipped_timings.db").string()}};
    }
    std::vector<std::vector<std::string>> changers() {
        return {{"db", "gc"}, {"db", "unpin", "k@9"}, {"db", "unban", "k@9", "--problem", "matmul *"}};
    }
    std::vector<std::vector<std::string>> makers() {
        return {{"db", "import", write("rows", text_of(path))},
                {"db", "merge", other},
                {"db", "pin", "cpu.reference.*"},
                {"db", "ban", "cpu.reference.*"}};
    }
    static std::string only_name(const std::vector<std::string>& words) { return testing::PrintToString(words); }
    static Outcome on(std::vector<std::string> words, const std::filesystem::path& database) {
        words.insert(words.end(), {"--db", database.string()});
        return run(CAIRN_COMMAND, words);
    }
};

TEST_F(DbCommands, RefuseAnInvalidDatabase) {
    std::vector<std::vector<std::string>> all = readers();
    for (const auto& more : {changers(), makers()}) all.insert(all.end(), more.begin(), more.end());
    const std::string text = write("text", std::string(1000, 'x'));
    change(folder / "foreign.db", "CREATE TABLE t(a)");
    const std::vector<std::string> before = files();
    for (const std::vector<std::string>& words : all) {
        EXPECT_TRUE(refuses(on(words, text), {"text", "is not a database"})) << only_name(words);
        EXPECT_TRUE(refuses(on(words, folder), {"is not a database"})) << only_name(words);
        EXPECT_TRUE(refuses(on(words, folder / "foreign.db"), {"foreign.db", "belongs to another program"}))
            << only_name(words);
        EXPECT_TRUE(refuses(on(words, folder / "no/times.db"), {"times.db", "folder"})) << only_name(words);
    }
    EXPECT_EQ(read_file(text), std::string(1000, 'x'));
    EXPECT_EQ(files(), before);
}

TEST_F(DbCommands, NeedAnExistingDatabaseUnlessTheyAddRows) {
    std::vector<std::vector<std::string>> all = readers();
    for (const auto& words : changers()) all.push_back(words);
    const std::vector<std::string> before = files();
    for (const std::vector<std::string>& words : all) {
        EXPECT_TRUE(refuses(on(words, folder / "none.db"), {"there is no database", "none.db"})) << only_name(words);
        EXPECT_TRUE(refuses(run(CAIRN_COMMAND, words), {"there is no database", "cache/cairn/timings.db"}))
            << "the user's own, whose folder is not there either; " << only_name(words);
    }
    EXPECT_EQ(files(), before);
    int made = 0;
    for (const std::vector<std::string>& words : makers()) {
        const std::filesystem::path fresh = folder / ("made" + std::to_string(made++));
        EXPECT_TRUE(succeeds(on(words, fresh))) << only_name(words);
        EXPECT_TRUE(succeeds(on({"db", "check"}, fresh)));
        EXPECT_TRUE(succeeds(run(CAIRN_COMMAND, words))) << "and the folder of the user's own; " << only_name(words);
    }
}

TEST_F(DbCommands, OpenAReadOnlyDatabaseForReading) {
    const std::vector<std::vector<std::string>> reading = readers();
    change(path, "PRAGMA user_version=99");  // of a newer library; older ones may only read it
    for (const std::vector<std::string>& words : reading) EXPECT_EQ(on(words, path).exit_code, 0) << only_name(words);
    std::vector<std::vector<std::string>> writing = changers();
    for (const auto& words : makers()) writing.push_back(words);
    const std::string before = text_of(path);
    for (const std::vector<std::string>& words : writing)
        EXPECT_TRUE(refuses(on(words, path), {"timings.db", "may only be read"})) << only_name(words);
    EXPECT_EQ(text_of(path), before);
}

TEST_F(DbCommands, HaveHelp) {
    const std::string all = run(CAIRN_COMMAND, {"db", "--help"}).out;
    for (const char* part : {"info", "query", "export", "import", "merge", "diff", "check", "gc", "rules", "pin", "ban",
                             "unpin", "unban", "ship", "lock"}) {
        EXPECT_THAT(all, HasSubstr("\n  " + std::string(part) + " "));
        const Outcome own = run(CAIRN_COMMAND, {"db", part, "--help"});
        EXPECT_TRUE(succeeds(own));
        EXPECT_THAT(own.out, HasSubstr("Usage: cairn db " + std::string(part)));
        for (const std::string& line : lines_of(own.out)) EXPECT_LE(line.size(), 110u) << line;
    }
    EXPECT_TRUE(refuses(run(CAIRN_COMMAND, {"db", "nonsense"}), {"no command nonsense of db"}));
}

}  // namespace
}  // namespace cairn::test
