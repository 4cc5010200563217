#include "cairn/compile.hpp"
#include "cairn/ops.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <map>

/// `cairn explain`, except for the HTML page, which report_test checks.
namespace cairn::test {
namespace {

using testing::HasSubstr;

class ExplainCommand : public testing::Test {
protected:
    Outcome explained(std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"explain", graph});
        return cairn_command(more);
    }
    TempFolder temp;
    std::string graph = temp.write("g.cairn", layer_text()).string();
    Explanation why = compile(parse_graph(layer_text()), Context()).explain();
};

TEST_F(ExplainCommand, PrintsTheExplanationOfTheLibrary) {
    const Outcome outcome = explained();
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_EQ(outcome.out, to_string(why));
    EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 40);
    EXPECT_EQ(explained({"--all"}).out, details(why));
}

TEST_F(ExplainCommand, UsesTheGivenSizes) {
    EXPECT_THAT(explained({"--split", "N=2", "--size", "N=1"}).out, testing::StartsWith("layer, N in 1..2"));
    EXPECT_THAT(explained({"--split", "N=2", "--size", "N=5"}).out, testing::StartsWith("layer, N in 3..8"));
    EXPECT_EQ(explained({"--size", "N=5"}).err, "") << "no weights are made";
}

TEST_F(ExplainCommand, RowsReportTimeAndCostOfKeptBytesSeparately) {
    const auto rows = rows_of(explained({"--json"}), "alternative");
    std::size_t count = 0;
    for (const ExplainedValue& value : why.buckets[0].values)
        for (const ExplainedAlternative& alternative : value.alternatives) {
            const auto& row = rows.at(count++);
            EXPECT_EQ(row["taken"], alternative.chosen);
            ASSERT_EQ(row.contains("slower_ns"), alternative.slower.has_value());
            if (!alternative.slower) continue;
            EXPECT_NEAR(row["slower_ns"].get<double>(), *alternative.slower * 1e9, 1e-3);
            EXPECT_NEAR(row["price_ns"].get<double>(), alternative.price * 1e9, 1e-3);
            EXPECT_EQ(row["more_bytes"].get<double>(), alternative.more_bytes);
        }
    EXPECT_EQ(rows.size(), count);
    EXPECT_GT(count, 2U);
}

TEST_F(ExplainCommand, AsRows) {
    const Outcome outcome = explained({"--json"});
    EXPECT_TRUE(succeeds(outcome));
    const auto rows = rows_of(outcome, "instruction"), other_kernels = rows_of(outcome, "other_kernel");
    const auto& instructions = why.buckets[0].instructions;
    ASSERT_EQ(rows.size(), instructions.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i]["kernel"], instructions[i].chosen.kernel);
        EXPECT_EQ(rows[i]["problem"], instructions[i].chosen.problem);
        EXPECT_NEAR(rows[i]["cost_ns"].get<double>(), instructions[i].chosen.seconds * 1e9, 1e-3);
        for (const ExplainedKernel& other_candidate : instructions[i].other_kernels) {
            const auto& row = other_kernels.at(count++);
            EXPECT_EQ(row["kernel"], other_candidate.kernel);
            if (other_candidate.refusal.empty())
                EXPECT_TRUE(row.contains("cost_ns"));
            else
                EXPECT_EQ(row["reason"], other_candidate.refusal);
        }
    }
    EXPECT_EQ(other_kernels.size(), count);
}

TEST_F(ExplainCommand, WhyNotReportsKernelsAndMissingMatches) {
    EXPECT_EQ(explained({"--why-not", "softmax"}).out, why_not(why, "softmax"));
    EXPECT_EQ(explained({"--why-not"}).out, why_not(why, "")) << "all refusals";
    EXPECT_THAT(explained({"--why-not", "rms_norm"}).out, HasSubstr("closest match: rms_norm"));
    const auto rows = rows_of(explained({"--why-not", "softmax", "--json"}));
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["reason"], why_not(why, "softmax"));
}

TEST_F(ExplainCommand, DrawsAGraphForGraphviz) {
    const Outcome outcome = explained({"--dot", (temp / "g.dot").string()});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_EQ(outcome.out, "");
    const std::string dot = read_file(temp / "g.dot");
    EXPECT_THAT(dot, testing::StartsWith("digraph \"layer\" {"));
    EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
    for (std::size_t i = 0; i < why.buckets[0].instructions.size(); ++i)
        EXPECT_THAT(dot, HasSubstr("b0i" + std::to_string(i) + " [label="));
    EXPECT_THAT(dot, HasSubstr("max_reduce sub exp sum div")) << "what is in a softmax";
    EXPECT_THAT(dot, testing::ContainsRegex("\"b0 input x\" -> b0i[0-9]+;"));
    EXPECT_THAT(dot, testing::ContainsRegex("b0i[0-9]+ -> \"b0 output y\";"));
}

TEST_F(ExplainCommand, TracesARun) {
    const Outcome outcome = explained({"--trace", (temp / "t.json").string(), "--size", "N=2"});
    EXPECT_TRUE(succeeds(outcome, seeded_weights_line));
    const nlohmann::json trace = nlohmann::json::parse(read_file(temp / "t.json"));
    std::vector<std::string> kernels, expected;
    double end = 0;
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        kernels.push_back(event["args"]["kernel"]);
        EXPECT_EQ(event["tid"], 1);
        EXPECT_GE(event["ts"].get<double>(), end) << "one behind the other";
        end = event["ts"].get<double>() + event["dur"].get<double>();
    }
    for (const ExplainedInstruction& each : why.buckets[0].instructions)
        if (!each.at_bind) expected.push_back(each.chosen.kernel);
    EXPECT_EQ(kernels, expected);
    EXPECT_THAT(trace["traceEvents"][0]["args"]["name"].get<std::string>(), HasSubstr("N = 2"));
}

TEST_F(ExplainCommand, ATraceHasARowForEachThread) {
    Graph graph("wide");
    const Tensor x = graph.input("x", DType::f32, {256, 256});
    graph.output("y", exp(matmul(x, graph.weight("w", DType::f32, {256, 256}))));
    const std::string file = temp.write("wide.cairn", to_string(graph)).string();
    const Outcome outcome =
        cairn_command({"explain", file, "--threads", "2", "--mode", "off", "--trace", (temp / "t.json").string()});
    EXPECT_TRUE(succeeds(outcome, seeded_weights_line));
    const nlohmann::json trace = nlohmann::json::parse(read_file(temp / "t.json"));
    std::map<int, double> ends;
    std::map<int, std::string> names;
    for (const auto& event : trace["traceEvents"]) {
        if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
        if (event["ph"] != "X") continue;
        double& end = ends[event["tid"]];
        EXPECT_GE(event["ts"].get<double>(), end);
        EXPECT_GT(event["dur"].get<double>(), 0);
        end = event["ts"].get<double>() + event["dur"].get<double>();
    }
    EXPECT_EQ(names, (std::map<int, std::string>{{1, "thread 0"}, {2, "thread 1"}}));
    EXPECT_EQ(ends.size(), 2U);
}

TEST_F(ExplainCommand, OptionsReachTheCompiler) {
    EXPECT_THAT(explained({"--all", "--split", "N=2"}).out,
                testing::AllOf(HasSubstr("bucket N in 1..2"), HasSubstr("bucket N in 3..8")));
    EXPECT_THAT(explained({"--all", "--disable", "fuse"}).out, testing::Not(HasSubstr("| softmax ")));
    EXPECT_THAT(explained({"--tolerance", "1e-2"}).out, HasSubstr("allowed is"));
    EXPECT_THAT(explained({"--all", "--mode", "normal", "--budget", "5s", "--db", (temp / "t.db").string()}).out,
                HasSubstr(" s measured"));
}

}  // namespace
}  // namespace cairn::test
