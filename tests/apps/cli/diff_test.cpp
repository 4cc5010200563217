#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

/// `cairn diff`.
namespace cairn::test {
namespace {

using testing::HasSubstr, testing::Not;

class DiffCommand : public testing::Test {
protected:
    Outcome diff_with(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"diff", graph, "--json"});
        return cairn_command(arguments);
    }
    TempFolder temp;
    std::string graph = temp.write("g.cairn", layer_text()).string();
};

TEST_F(DiffCommand, OfEqualProgramsIsEmpty) {
    const Outcome outcome = diff_with({graph});
    EXPECT_TRUE(succeeds(outcome));
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["different"], "0");
    EXPECT_EQ(rows[0]["a_ns"], rows[0]["b_ns"]);
    EXPECT_TRUE(succeeds(diff_with({})));
}

TEST_F(DiffCommand, OfOptionsReportsTheirEffect) {
    const Outcome outcome = diff_with({"--disable-b", "fuse"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "");
    const auto only_a = rows_of(outcome, "only_a"), only_b = rows_of(outcome, "only_b"),
               total = rows_of(outcome, "diff");
    ASSERT_EQ(total.size(), 1u);
    EXPECT_EQ(total[0]["different"], std::to_string(only_a.size() + only_b.size()));
    EXPECT_LT(total[0]["a_ns"].get<double>(), total[0]["b_ns"].get<double>());
    bool any_fused = false;
    for (const auto& row : only_a) any_fused = any_fused || row["problem"].get<std::string>().starts_with("softmax");
    EXPECT_TRUE(any_fused);
    for (const auto& row : only_b) EXPECT_FALSE(row["problem"].get<std::string>().starts_with("softmax"));
}

TEST_F(DiffCommand, OfRulesReportsTheirEffect) {
    const Outcome outcome = diff_with({"--ban-b", "*softmax*"});
    EXPECT_EQ(outcome.exit_code, 1);
    const auto only_a = rows_of(outcome, "only_a"), only_b = rows_of(outcome, "only_b");
    ASSERT_FALSE(only_a.empty());
    for (const auto& row : only_b) EXPECT_THAT(row["kernel"].get<std::string>(), Not(HasSubstr("softmax")));
    const std::string chosen = only_a[0]["kernel"].get<std::string>();
    EXPECT_EQ(diff_with({"--pin-b", chosen}).exit_code, 0);
    EXPECT_EQ(diff_with({"--ban", "*softmax*", "--pin-b", chosen}).exit_code, 0) << "B has the bans of A";
    EXPECT_EQ(diff_with({"--pin", chosen, "--ban-b", chosen}).exit_code, 1);
}

TEST_F(DiffCommand, OfBucketsPairsThemBySizes) {
    const Outcome outcome = diff_with({"--split-b", "N=4"});
    EXPECT_EQ(outcome.exit_code, 1);
    std::vector<std::string> names;
    for (const auto& row : rows_of(outcome, "diff")) names.push_back(row["bucket"].get<std::string>());
    EXPECT_THAT(names, testing::ElementsAre("all sizes", "N in 1..4", "N in 5..8"));
    EXPECT_THAT(cairn_command({"diff", graph, "--split-b", "N=4"}).out, HasSubstr("N in 1..4: no program, then "));
}

TEST_F(DiffCommand, ReadsSavedPrograms) {
    const std::string saved = (temp / "g.saved").string();
    const std::string database = (temp / "times.db").string();
    ASSERT_TRUE(succeeds(cairn_command({"tune", graph, "--db", database, "--save", saved})));
    EXPECT_TRUE(succeeds(diff_with({saved, "--mode", "cached", "--db", database})));
    EXPECT_TRUE(succeeds(cairn_command({"diff", saved, saved})));
    EXPECT_TRUE(refuses(cairn_command({"diff", saved, saved, "--tolerance", "1e-2"}),
                        {"--tolerance has no effect: each of them is a saved program"}));
    EXPECT_TRUE(refuses(cairn_command({"diff", graph, saved, "--split-b", "N=4"}),
                        {"--split-b has no effect: the second one is a saved program"}));
    EXPECT_TRUE(refuses(diff_with({temp.write("cut", read_file(saved).substr(0, 400)).string()}), {"cut"}));
    EXPECT_TRUE(refuses(diff_with({(temp / "none").string()}), {"none"}));
}

}  // namespace
}  // namespace cairn::test
