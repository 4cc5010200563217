#include "tests/apps/cli/two_machines.hpp"

#include <gmock/gmock.h>

/// `cairn db rules`, `pin`, `ban`, `unpin` and `unban`.
namespace cairn::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DbRules : public TwoMachines {
protected:
    std::vector<KernelRule> rules() const { return TimingFile(path, TimingFile::Use::read).rules(); }
    const KernelRule at_first{"k@9", "matmul *", RuleAction::ban, "slow"};
};

TEST_F(DbRules, AreListed) {
    const auto listed = rows({"rules"}, "rule");
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0]["verdict"], "ban");
    EXPECT_EQ(listed[0]["kernel"], "k@9");
    EXPECT_EQ(listed[0]["problem"], "matmul *");
    EXPECT_EQ(listed[0]["reason"], "slow");
    EXPECT_EQ(db({"rules"}).out, "ban k@9 for matmul *: slow\n");
}

TEST_F(DbRules, AreAddedAndRemoved) {
    const KernelRule ban{"cpu.eigen_*", "matmul *", RuleAction::ban, "slow on one row"},
        pin{"k@1", "*", RuleAction::pin};
    EXPECT_EQ(rows({"ban", ban.kernel, "--problem", ban.problem, "--reason", ban.reason}, "rule")[0]["kernel"],
              ban.kernel);
    EXPECT_EQ(db({"pin", "k@1"}).out, "pin k@1 for *\n") << "a program's own kernel, of which there are times";
    EXPECT_THAT(rules(), testing::UnorderedElementsAre(at_first, ban, pin));
    EXPECT_EQ(rows({"unban", ban.kernel, "--problem", ban.problem}, "lifted").size(), 1u);
    EXPECT_EQ(db({"unpin", "k@1"}).out, "lifted: pin k@1 for *\n");
    EXPECT_EQ(rules(), std::vector{at_first});
    EXPECT_TRUE(succeeds(db({"unban", "k@9", "--problem", "matmul *"})));
    EXPECT_EQ(db({"rules"}).out, "no rule is in force\n");
    EXPECT_EQ(db({"rules", "--json"}).out, "");
}

TEST_F(DbRules, CanPrecedeTimes) {
    const Outcome outcome = run(CAIRN_COMMAND, {"db", "ban", "cpu.reference.*", "--db", other});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_EQ(TimingFile(other, TimingFile::Use::read).rules(), (std::vector<KernelRule>{{"cpu.reference.*"}}));
}

TEST_F(DbRules, ApplyToACompile) {
    const std::string graph = write("g.cairn", layer_text());
    const auto explained = [&] {
        return cairn_command({"explain", graph, "--mode", "cached", "--db", path.string(), "--why-not", "softmax"}).out;
    };
    EXPECT_THAT(explained(), testing::Not(HasSubstr("never again")));
    EXPECT_TRUE(succeeds(db({"ban", "*.softmax*", "--reason", "never again"})));
    EXPECT_THAT(explained(), HasSubstr("never again"));
}

TEST_F(DbRules, ThatMatchNoKernelAreRefused) {
    EXPECT_TRUE(refuses(db({"pin", "cpu.nothing.*"}), {"no kernel is called cpu.nothing.*", "--force"}));
    EXPECT_TRUE(refuses(db({"ban", ""}), {"pattern is empty"}));
    EXPECT_TRUE(refuses(db({"ban", "cpu.*", "--problem", ""}), {"--problem", "pattern is empty"}));
    EXPECT_TRUE(refuses(db({"ban"}), {"kernel", "required"}));
    EXPECT_TRUE(refuses(db({"unpin", "k@9", "--problem", "matmul *"}), {"there is no pin of k@9 for matmul *"}));
    EXPECT_TRUE(refuses(db({"unban", "k@9"}), {"there is no ban of k@9 for *"}));
    EXPECT_EQ(rules(), std::vector{at_first});
    EXPECT_TRUE(refuses(run(CAIRN_COMMAND, {"db", "pin", "nothing", "--db", other}), {"no kernel is called nothing"}));
    EXPECT_THAT(files(), ElementsAre("timings.db"));
    EXPECT_TRUE(succeeds(db({"pin", "their.kernel@1", "--force"})));
    EXPECT_EQ(rules().size(), 2u);
}

}  // namespace
}  // namespace cairn::test
