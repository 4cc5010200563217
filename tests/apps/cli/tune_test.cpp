#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cairn::test {
namespace {

class TuneCommand : public testing::Test {
protected:
    /// The number of added times that the command reports.
    int added(const std::string& database, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words{"tune", graph, "--db", database, "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = cairn_command(words);
        EXPECT_TRUE(succeeds(outcome));
        const auto rows = rows_of(outcome, "tune");
        return rows.size() == 1 ? std::stoi(rows[0]["measured"].get<std::string>()) : -1;
    }
    int known(const std::string& database) const {
        return std::stoi(
            rows_of(cairn_command({"db", "info", "--db", database, "--json"}), "db")[0]["times"].get<std::string>());
    }
    TempFolder temp;
    std::string graph = temp.write("g.cairn", layer_text()).string();
};

TEST_F(TuneCommand, ReportsTheNumberOfAddedTimes) {
    const std::string database = (temp / "t.db").string();
    const int first = added(database);
    EXPECT_GT(first, 0);
    EXPECT_EQ(known(database), first);
    EXPECT_EQ(added(database), 0);
    const int more = added(database, {"--threads", "2"});
    EXPECT_GT(more, 0) << "another number of threads is another machine";
    EXPECT_EQ(known(database), first + more);
}

TEST_F(TuneCommand, HasTheModesThatMeasure) {
    for (const char* mode : {"quick", "normal", "exhaustive"}) {
        const std::string database = (temp / (std::string(mode) + ".db")).string();
        EXPECT_EQ(added(database, {"--mode", mode, "--budget", "0s"}), 0) << mode;
        EXPECT_GT(added(database, {"--mode", mode, "--budget", "2s"}), 0) << mode;
    }
}

TEST_F(TuneCommand, SavesTheCompiledGraph) {
    const std::string saved = (temp / "g.compiled").string();
    added((temp / "t.db").string(), {"--save", saved});
    EXPECT_TRUE(std::filesystem::is_regular_file(saved));
}

}  // namespace
}  // namespace cairn::test
