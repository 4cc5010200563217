#include "cairn/paths.hpp"

#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <set>

/// `cairn paths`.
namespace cairn::test {
namespace {

class PathsCommand : public testing::Test {
protected:
    Outcome paths_with(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"paths", graph});
        return cairn_command(arguments);
    }
    std::vector<nlohmann::json> listed(std::vector<std::string> arguments) const {
        arguments.push_back("--json");
        const Outcome outcome = paths_with(arguments);
        EXPECT_TRUE(succeeds(outcome));
        return rows_of(outcome, "path");
    }
    TempFolder temp;
    std::string graph = temp.write("g.cairn", layer_text()).string();
    Paths all_paths = cairn::paths(parse_graph(layer_text()), Context());
};

TEST_F(PathsCommand, CountsThemAll) {
    const Outcome text = paths_with({"--count"});
    EXPECT_TRUE(succeeds(text));
    EXPECT_EQ(text.out, all_paths.count() + "\n");
    const auto rows = rows_of(paths_with({"--count", "--json"}));
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["count"], all_paths.count());
    EXPECT_EQ(rows[0]["exact"], true);
}

TEST_F(PathsCommand, ListsTheCheapestInOrder) {
    const auto rows = listed({"--best", "500"});
    ASSERT_EQ(rows.size(), 500u);
    std::set<std::string> ranks;
    double last = 0;
    PathRange range = all_paths.cheapest_first();
    auto path = range.begin();
    for (const auto& row : rows) {
        EXPECT_EQ(row["rank"], all_paths.rank(*path));
        EXPECT_NEAR(row["cost_ns"].get<double>(), path->cost() * 1e9, 1e-3);
        EXPECT_NEAR(row["expected_ns"].get<double>(), path->seconds() * 1e9, 1e-3);
        EXPECT_GE(row["cost_ns"].get<double>(), last) << "in the order of what is shown";
        last = row["cost_ns"].get<double>();
        EXPECT_EQ(row["steps"], std::to_string(path->steps().size()));
        EXPECT_EQ(row["digest"].get<std::string>().size(), 32u);
        ranks.insert(row["rank"].get<std::string>());
        ++path;
    }
    EXPECT_EQ(ranks.size(), 500u);
    EXPECT_EQ(listed({}).size(), 10u);
    EXPECT_EQ(listed({"--best", "0"}).size(), 0u);
}

TEST_F(PathsCommand, ContinuesAfterARank) {
    const auto all = listed({"--best", "12"}), first = listed({"--best", "5"});
    auto concatenated = first;
    for (const auto& row : listed({"--best", "7", "--resume", first.back()["rank"].get<std::string>()}))
        concatenated.push_back(row);
    EXPECT_EQ(concatenated, all);
}

TEST_F(PathsCommand, SamplesBySeed) {
    const auto one = listed({"--sample", "8", "--seed", "1"}), other = listed({"--sample", "8", "--seed", "2"});
    EXPECT_EQ(one.size(), 8u);
    EXPECT_EQ(listed({"--sample", "8", "--seed", "1"}), one);
    EXPECT_NE(other, one);
    EXPECT_EQ(listed({"--sample", "1", "--best", "1"}).size(), 2u);
}

TEST_F(PathsCommand, PrintsSteps) {
    const Outcome outcome = paths_with({"--best", "1", "--steps", "--json"});
    const auto steps = rows_of(outcome, "step");
    const std::vector<PathStep> expected = all_paths.cheapest().steps();
    ASSERT_EQ(steps.size(), expected.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i]["kernel"], expected[i].kernel);
        EXPECT_EQ(steps[i]["problem"], expected[i].problem);
        EXPECT_EQ(steps[i]["once"], expected[i].at_bind);
    }
    EXPECT_THAT(paths_with({"--best", "1", "--steps"}).out, testing::HasSubstr(expected[0].kernel));
}

TEST_F(PathsCommand, RunsTheListedPaths) {
    const Outcome outcome = paths_with({"--best", "2", "--profile", "--json"});
    EXPECT_TRUE(succeeds(outcome, seeded_weights_line));
    for (const auto& row : rows_of(outcome, "path")) EXPECT_GT(row["run_ns"].get<double>(), 0) << row;
    const Outcome text = paths_with({"--best", "1", "--profile"});
    EXPECT_THAT(text.out, testing::HasSubstr("a run took"));
}

}  // namespace
}  // namespace cairn::test
