#include "tests/apps/cli/two_machines.hpp"

#include "cairn/context.hpp"

#include <gmock/gmock.h>

/// `cairn db info`.
namespace cairn::test {
namespace {

using testing::HasSubstr;

class DbInfo : public TwoMachines {};

TEST_F(DbInfo, CountsRowsOfEachKind) {
    const auto info = rows({"info"}, "db");
    ASSERT_EQ(info.size(), 1u);
    EXPECT_EQ(info[0]["db"], path.string());
    EXPECT_EQ(info[0]["version"], "3");
    EXPECT_EQ(info[0]["times"], "4");
    EXPECT_EQ(info[0]["figures"], "0");
    EXPECT_EQ(info[0]["errors"], "1");
    EXPECT_EQ(info[0]["choices"], "1");
    EXPECT_EQ(info[0]["rules"], "1");
    EXPECT_EQ(info[0]["sessions"], "3");
    EXPECT_EQ(info[0]["problems"], "2");
    EXPECT_EQ(info[0]["kernels"], "3");
    EXPECT_EQ(info[0]["bytes"], std::to_string(std::filesystem::file_size(path)));
    EXPECT_EQ(info[0]["wal"], true);
    const TimingFileInfo known = TimingFile(path, TimingFile::Use::read).info();
    EXPECT_EQ(info[0]["oldest"], std::to_string(known.oldest));
    EXPECT_EQ(info[0]["newest"], std::to_string(known.newest));
    const std::string text = db({"info"}).out;
    EXPECT_THAT(text, HasSubstr("4 times"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "schema 3: 2 problems, 3 kernels, 0 figures of machines, 1 errors, 1 choices, 1 rules, 3 sessions\n"));
    EXPECT_THAT(text, testing::ContainsRegex("times are from 20..-..-..T..:..:..Z to 20"));
}

TEST_F(DbInfo, MarksTheEnvironmentOfThisMachine) {
    add_time(path, "k@1", 1e-6, this_machine(1));
    std::vector<std::string> marked, times;
    for (const auto& row : rows({"info", "--threads", "1"}, "environment")) {
        times.push_back(row["times"].get<std::string>());
        if (row["here"] == true) marked.push_back(row["environment"].get<std::string>());
    }
    EXPECT_THAT(marked, testing::ElementsAre(this_machine(1).hard));
    EXPECT_THAT(times, testing::UnorderedElementsAre("3", "1", "1"));
    const std::string text = db({"info", "--threads", "1"}).out;
    EXPECT_THAT(text, HasSubstr("here      1 times of " + this_machine(1).hard + "\n"));
    EXPECT_THAT(text, HasSubstr("elsewhere 3 times of machine A\n"));
    EXPECT_THAT(db({"info", "--threads", "2"}).out,
                HasSubstr("here, measured with 1 threads, not 2 1 times of " + this_machine(1).hard + "\n"));
    for (const auto& row : rows({"info", "--threads", "2"}, "environment"))
        EXPECT_EQ(row["here"], false) << "another number of threads is another machine";
    if (Context().features().empty()) return;
    for (const auto& row : rows({"info", "--threads", "1", "--features", "baseline"}, "environment"))
        EXPECT_EQ(row["here"], false) << "other features are another machine";
}

TEST_F(DbInfo, TimesOfAGpuAreToldApart) {
    const std::string gpu = "cairn 0.1.0 | cuda | NVIDIA H100 80GB HBM3 | driver 13.0 | NVRTC 13.0";
    add_time(path, "k@1", 1e-6, {gpu, ""});
    int found = 0;
    for (const auto& row : rows({"info"}, "environment")) {
        if (row["environment"] != gpu) continue;
        EXPECT_TRUE(row["here"].is_null());
        ++found;
    }
    EXPECT_EQ(found, 1);
    EXPECT_THAT(db({"info"}).out, HasSubstr("of a GPU  1 times of " + gpu + "\n"));
}

TEST_F(DbInfo, SessionsAreListedOnRequest) {
    EXPECT_TRUE(rows({"info"}, "session").empty());
    const auto sessions = rows({"info", "--sessions"}, "session");
    ASSERT_EQ(sessions.size(), 3u);
    int times = 0;
    for (const auto& row : sessions) {
        EXPECT_EQ(row["program"], "a program");
        EXPECT_EQ(row["version"], version());
        times += std::stoi(row["times"].get<std::string>());
    }
    EXPECT_EQ(times, 4);
    EXPECT_THAT(db({"info", "--sessions"}).out,
                HasSubstr("Z  a program with version " + std::string(version()) + ": "));
}

TEST_F(DbInfo, DoesNotChangeTheDatabase) {
    const std::string before = text_of(path);
    EXPECT_TRUE(succeeds(db({"info"})));
    EXPECT_EQ(text_of(path), before);
    EXPECT_THAT(files(), testing::ElementsAre("timings.db"));
}

}  // namespace
}  // namespace cairn::test
