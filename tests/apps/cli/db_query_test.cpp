#include "tests/apps/cli/two_machines.hpp"

#include <gmock/gmock.h>

/// `cairn db query` with patterns; the tests of `cairn tune` query a problem on this machine.
namespace cairn::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DbQuery : public TwoMachines {
protected:
    std::vector<std::string> kernels(std::vector<std::string> words) const {
        words.insert(words.begin(), "query");
        std::vector<std::string> found;
        for (const auto& row : rows(words, "time")) found.push_back(row["kernel"].get<std::string>());
        return found;
    }
};

TEST_F(DbQuery, PrintsAllFieldsOfATime) {
    const auto all = rows({"query"}, "time");
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0]["problem"], exp_4);
    EXPECT_EQ(all[0]["reason"], "out of memory");
    EXPECT_FALSE(all[0].contains("cost_ns"));
    EXPECT_EQ(all[1]["kernel"], "k@1");
    EXPECT_EQ(all[1]["cost_ns"], 2000.0);
    EXPECT_EQ(all[1]["min_ns"], 1800.0);
    EXPECT_EQ(all[1]["p90_ns"], 2400.0);
    EXPECT_EQ(all[1]["samples"], "9");
    EXPECT_EQ(all[1]["quality"], 2);
    EXPECT_EQ(all[1]["policy"], "threads=2 cold inputs=normal");
    EXPECT_EQ(all[1]["environment"], "machine A");
    EXPECT_EQ(all[1]["here"], false);
    EXPECT_EQ(all[3]["environment"], "machine B");
    const std::string text = db({"query"}).out;
    EXPECT_THAT(text, HasSubstr("  failed  k@3 | exp | f32[4] -> f32[4]  (out of memory, "));
    EXPECT_THAT(text, HasSubstr("    2 us  k@1 | exp | f32[64] -> f32[64]  (9 blocks of 3, threads=2 cold"));
}

TEST_F(DbQuery, ReportsTheQualityOfATime) {
    for (const int quality : {0, 1})
        TimingDb(path).record(problem(exp_64), "q" + std::to_string(quality) + "@1", machine, policy,
                              timing(1e-6, 1, quality));
    EXPECT_THAT(db({"query", "--kernel", "q0@1"}).out, HasSubstr("(1 blocks of 3, coarse, "));
    EXPECT_THAT(db({"query", "--kernel", "q1@1"}).out, HasSubstr("(1 blocks of 3, the machine was busy, "));
}

TEST_F(DbQuery, PatternsSelectRows) {
    EXPECT_THAT(kernels({"--kernel", "k@1"}), ElementsAre("k@1", "k@1"));
    EXPECT_THAT(kernels({"--kernel", "k@1", "--best"}), ElementsAre("k@1"));
    EXPECT_THAT(kernels({"--problem", "*f32[4]*"}), ElementsAre("k@3"));
    EXPECT_THAT(kernels({"--environment", "* B"}), ElementsAre("k@2"));
    EXPECT_THAT(kernels({"--policy", "*cold*", "--kernel", "k@?", "--best"}), ElementsAre("k@3", "k@1", "k@2"));
    EXPECT_THAT(kernels({"--kernel", "k@2", "--environment", "machine A"}), ElementsAre()) << "each fits something";
}

TEST_F(DbQuery, HereMatchesThisMachine) {
    add_time(path, "mine@1", 1e-6, this_machine(1));
    EXPECT_THAT(kernels({"--environment", "here", "--threads", "1"}), ElementsAre("mine@1"));
    EXPECT_EQ(rows({"query", "--kernel", "mine@1", "--threads", "1"}, "time")[0]["here"], true);
}

TEST_F(DbQuery, SelectsRowsSinceATime) {
    EXPECT_EQ(kernels({"--since", "1h"}).size(), 4u);
    EXPECT_EQ(kernels({"--since", "2024-01-01"}).size(), 4u);
    EXPECT_EQ(kernels({"--since", "2261-01-01"}).size(), 0u);
    change(path, "UPDATE measurement SET time=time-7200000000000 WHERE samples=5");
    EXPECT_EQ(kernels({"--since", "1h"}).size(), 3u);
}

TEST_F(DbQuery, OfAProblemPrintsTheTimesInUse) {
    TimingPolicy as_compiled;
    TimingDb(path).record(problem(exp_64), "k@4", this_machine(1), as_compiled, timing(4e-6));
    TimingDb(path).record(problem(exp_64), "k@4", this_machine(1), as_compiled, timing(5e-6, 90));
    TimingDb(path).record(problem(exp_64), "k@5", this_machine(1), {1, false, "normal"}, timing(4e-6));
    const auto found = rows({"query", exp_64, "--threads", "1"}, "time");
    ASSERT_EQ(found.size(), 1u) << "of this machine, as programs run";
    EXPECT_EQ(found[0]["kernel"], "k@4");
    EXPECT_EQ(found[0]["cost_ns"], 5000.0);
}

TEST_F(DbQuery, RefusesPatternsWithoutMatch) {
    const std::string before = text_of(path);
    EXPECT_TRUE(refuses(db({"query", "--kernel", "no*"}), {"no time here matches a kernel no*"}));
    EXPECT_TRUE(refuses(db({"query", "--problem", "no*"}), {"no time here matches a problem no*"}));
    EXPECT_TRUE(refuses(db({"query", "--environment", "no*"}), {"no time here matches an environment no*"}));
    EXPECT_TRUE(refuses(db({"query", "--policy", "no*"}), {"no time here matches a policy no*"}));
    EXPECT_TRUE(refuses(db({"query", "--kernel", ""}), {"--kernel", "pattern is empty"}));
    EXPECT_TRUE(refuses(db({"query", "--problem", "a\nb"}), {"--problem", "one line"}));
    EXPECT_TRUE(refuses(db({"query", "--since", "soon"}), {"--since", "got soon"}));
    EXPECT_TRUE(refuses(db({"query", "--since", "2026-02-30"}), {"--since", "got 2026-02-30"}));
    EXPECT_TRUE(refuses(db({"query", exp_64, "--best"}), {"problem excludes --best"}));
    EXPECT_EQ(text_of(path), before);
}

}  // namespace
}  // namespace cairn::test
