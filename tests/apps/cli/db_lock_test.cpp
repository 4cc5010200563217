#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

/// `cairn db lock`, and the replay of locks.
namespace cairn::test {
namespace {

using testing::HasSubstr;

class DbLock : public testing::Test {
protected:
    Outcome locks(std::vector<std::string> more) const {
        more.insert(more.begin(), {"db", "lock", graph, "--db", database, "--threads", "1"});
        return run(CAIRN_COMMAND, more);
    }
    void tune() const { ASSERT_TRUE(succeeds(cairn_command({"tune", graph, "--db", database}))); }
    /// Digests of the programs in the output of a command.
    static std::vector<std::string> digests(const Outcome& outcome) {
        EXPECT_TRUE(succeeds(outcome));
        std::vector<std::string> found;
        for (const auto& row : rows_of(outcome, "bucket")) found.push_back(row["digest"].get<std::string>());
        return found;
    }
    Outcome replays(std::vector<std::string> words) const {
        words.insert(words.end(), {"--mode", "replay", "--lock", lock, "--json"});
        return cairn_command(words);
    }
    TempFolder temp;
    std::string graph = temp.write("g.cairn", layer_text()).string(), database = (temp / "times.db").string(),
                lock = (temp / "g.lock").string();
};

TEST_F(DbLock, IsReplayedWithoutTheDatabase) {
    tune();
    const Outcome written = locks({"--output", lock, "--json"});
    const std::vector<std::string> chosen = digests(written);
    ASSERT_EQ(chosen.size(), 1u);
    const auto reported = rows_of(written, "lock");
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_EQ(reported[0]["lock"], lock);
    EXPECT_EQ(reported[0]["measured"], reported[0]["instructions"]);
    EXPECT_THAT(read_file(lock), testing::StartsWith("cairn lock 2\n"));
    std::filesystem::remove(database);
    EXPECT_EQ(digests(replays({"explain", graph})), chosen);
    EXPECT_EQ(digests(replays({"explain", graph, "--db", database})), chosen);
    EXPECT_FALSE(std::filesystem::exists(database)) << "a replay reads none";
    EXPECT_EQ(rows_of(replays({"paths", graph, "--best", "1"}), "path").size(), 1u);
    EXPECT_TRUE(succeeds(replays({"diff", graph})));
    const Outcome estimated = cairn_command({"diff", graph, "--mode", "replay", "--lock", lock, "--mode-b", "off"});
    EXPECT_LE(estimated.exit_code, 1) << "the lock is of the first alone";
    EXPECT_EQ(estimated.err, "");
    EXPECT_TRUE(succeeds(
        cairn_command({"diff", graph, "--mode", "replay", "--lock", lock, "--mode-b", "replay", "--lock-b", lock})));
}

TEST_F(DbLock, ReportsWhetherItMatches) {
    tune();
    ASSERT_TRUE(succeeds(locks({"--output", lock})));
    EXPECT_TRUE(succeeds(locks({"--check", lock})));
    EXPECT_EQ(rows_of(locks({"--check", lock, "--json"}), "lock")[0]["ok"], true);
    const std::string changed = temp.write("h.cairn", chosen_rows_text()).string();
    const Outcome outcome =
        run(CAIRN_COMMAND, {"db", "lock", changed, "--check", lock, "--db", database, "--threads", "1", "--json"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "");
    const auto reported = rows_of(outcome, "lock");
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_EQ(reported[0]["ok"], false);
    EXPECT_THAT(reported[0]["reason"].get<std::string>(), HasSubstr("does not fit graph \"chosen\""));
    EXPECT_TRUE(refuses(replays({"explain", changed}), {"does not fit graph"}));
}

TEST_F(DbLock, AcceptsCompileOptions) {
    const Outcome split = locks({"--output", lock, "--mode", "off", "--split", "N=4", "--json"});
    EXPECT_EQ(digests(split).size(), 2u);
    EXPECT_FALSE(std::filesystem::exists(database)) << "estimates need none";
    EXPECT_THAT(read_file(lock), HasSubstr("N in 5..8"));
    EXPECT_EQ(rows_of(split, "lock")[0]["measured"], "0");
}

TEST_F(DbLock, RefusesInvalidArguments) {
    EXPECT_TRUE(refuses(locks({"--output", lock}), {"no database", "times.db"}));
    tune();
    EXPECT_TRUE(refuses(locks({}), {"--output FILE or --check FILE"}));
    EXPECT_TRUE(refuses(locks({"--output", lock, "--check", lock}), {"--output FILE or --check FILE"}));
    EXPECT_TRUE(refuses(locks({"--output", (temp / "no/g.lock").string()}), {"No such file"}));
    EXPECT_TRUE(refuses(locks({"--check", lock}), {"g.lock"}));
    EXPECT_TRUE(refuses(locks({"--check", lock, "--mode", "off"}), {"--check", "--mode"}));
    EXPECT_TRUE(
        refuses(run(CAIRN_COMMAND, {"db", "lock", (temp / "none.cairn").string(), "--output", lock, "--db", database}),
                {"none.cairn"}));
    EXPECT_FALSE(std::filesystem::exists(lock));
    temp.write("g.lock", "mine");
    EXPECT_TRUE(refuses(locks({"--output", lock}), {"is there already"}));
    EXPECT_EQ(read_file(lock), "mine");
    EXPECT_TRUE(refuses(locks({"--check", lock}), {"g.lock", "is not a lock"}));
    EXPECT_TRUE(succeeds(locks({"--output", lock, "--force"})));
    EXPECT_THAT(read_file(lock), testing::StartsWith("cairn lock 2\n"));
}

TEST_F(DbLock, LocksNeedAMatchingMode) {
    temp.write("g.lock", "mine");
    const auto refused = [&](std::vector<std::string> words, std::vector<std::string> reported) {
        words.insert(words.begin() + 1, graph);
        words.insert(words.end(), {"--db", database});
        EXPECT_TRUE(refuses(run(CAIRN_COMMAND, words), reported));
        EXPECT_FALSE(std::filesystem::exists(database));
    };
    for (const char* command : {"explain", "paths", "diff"}) {
        refused({command, "--mode", "replay"}, {"--mode replay needs", "--lock FILE"});
        refused({command, "--lock", lock}, {"--lock is for --mode replay alone, the mode is cached"});
        refused({command, "--mode", "normal", "--lock", lock}, {"the mode is normal"});
    }
    refused({"diff", "--mode-b", "replay"}, {"--mode replay needs"});
    refused({"diff", "--lock-b", lock}, {"--lock is for --mode replay alone"});
    for (const char* mode : {"off", "cached", "replay"}) refused({"tune", "--mode", mode}, {"--mode", mode, "quick"});
    refused({"tune", "--lock", lock}, {"--lock"});
    refused({"explain", "--mode", "replay", "--lock", (temp / "none.lock").string()}, {"none.lock"});
    refused({"explain", "--mode", "replay", "--lock", lock}, {"g.lock", "is not a lock"});
}

}  // namespace
}  // namespace cairn::test
