#include "apps/cli/report.hpp"

#include "apps/cli/alternatives_table.hpp"
#include "apps/cli/dataflow.hpp"
#include "apps/cli/dataflow_chart.hpp"
#include "apps/cli/memory_chart.hpp"
#include "apps/cli/output.hpp"
#include "apps/cli/problem_ops.hpp"
#include "apps/cli/report_style.hpp"
#include "apps/cli/time_chart.hpp"
#include "apps/cli/tuning_chart.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/apps/cli/markup.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace cairn::cli {
namespace {

using test::Element;
using test::elements_in;
using testing::HasSubstr;
using testing::Not;

/// Data of GPT-2 in full size, without its weights: a run in which each instruction took twice the expected time, and
/// later ones slightly more.
const ReportData& gpt2_report() {
    static const ReportData study = [] {
        const models::Gpt2Config config;
        const Graph graph = models::gpt2_graph(config, models::gpt2_weights(config));
        const Context context;
        const CompiledGraph compiled = compile(graph, context);
        ReportData made;
        made.graph = graph.name();
        made.how = {{"threads", "1"}, {"times", "off"}};
        made.sizes = "T = 32, past = 0";
        made.why = compiled.explain();
        made.memory = compiled.memory({{"T", 32}, {"past", 0}});
        for (const ExplainedInstruction& each : made.run_bucket().instructions)
            made.groups[each.chosen.problem] = problem_ops(each.chosen.problem, context);
        for (const ExplainedInstruction* each : made.instructions())
            made.profile.push_back({each->chosen.kernel, each->chosen.problem,
                                    2 * each->chosen.seconds + 1e-6 * static_cast<double>(made.profile.size()),
                                    each->chosen.seconds});
        AlternativePath other;
        for (const ExplainedInstruction& each : made.run_bucket().instructions)
            other.steps.push_back(
                {"", each.chosen.kernel, each.chosen.problem, each.chosen.seconds, false, each.at_bind, ""});
        other.steps.back().kernel = "cpu.other.kernel@1";
        made.runner_up = other;
        made.tuning = {{0, 1e-3, "a@1"}, {0.5, 2e-3, "b@1"}, {2, 4e-3, "c@1"}};
        return made;
    }();
    return study;
}

std::vector<Element> elements_of(const std::string& markup, std::string_view name, std::string_view style = {}) {
    std::vector<Element> found;
    for (Element& element : elements_in(markup))
        if (element.name == name && (style.empty() || element.has_class(style))) found.push_back(std::move(element));
    return found;
}

TEST(Report, IsOneWellFormedPageOfLessThanTwoMegabytes) {
    const std::string page = report_of(gpt2_report());
    EXPECT_LT(page.size(), 2u << 20);
    EXPECT_NO_THROW(elements_in(page));
    EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
    std::string rest = page;
    for (std::size_t at = 0; (at = rest.find(" xmlns=\"http://www.w3.org/2000/svg\"", at)) != std::string::npos;)
        rest.erase(at, 36);
    for (const char* foreign : {"http", "src=", "@import", "url(", "<script"})
        EXPECT_THAT(rest, Not(HasSubstr(foreign)));
    EXPECT_EQ(elements_of(page, "svg").size(), 4u) << "time, memory, tuning, instructions";
}

TEST(Report, EveryClassOfADrawingHasAStyle) {
    const std::string page = report_of(gpt2_report()), sheet(report_style());
    for (const Element& element : elements_in(page)) {
        if (element.name != "rect" && element.name != "path" && element.name != "line") continue;
        std::istringstream words(element.attributes.at("class"));
        for (std::string word; words >> word;) EXPECT_THAT(sheet, HasSubstr("." + word + " {"));
    }
    for (const auto& [style, meaning] : style_legend) EXPECT_THAT(page, HasSubstr("<i class=\"" + std::string(style)));
    EXPECT_THAT(sheet, HasSubstr("prefers-color-scheme: dark"));
}

TEST(Report, ContainsTheFiguresOfTheRun) {
    const ReportData& study = gpt2_report();
    const std::string page = report_of(study);
    for (const std::string& figure :
         {time_text(study.run_bucket().seconds), bytes_text(static_cast<double>(study.memory.arena)),
          bytes_text(static_cast<double>(study.memory.states)), std::to_string(study.instructions().size())})
        EXPECT_THAT(page, HasSubstr("<b>" + figure + "</b>"));
    EXPECT_THAT(page, HasSubstr("T = 32, past = 0"));
}

TEST(Report, ReportsMissingData) {
    ReportData study;
    study.graph = "a <graph> & more";
    study.why.buckets.resize(1);
    const std::string page = report_of(study);
    EXPECT_NO_THROW(elements_in(page));
    EXPECT_THAT(page, HasSubstr("a &lt;graph&gt; &amp; more"));
    EXPECT_THAT(page, HasSubstr("The arena is empty."));
    EXPECT_THAT(page, HasSubstr("None of the cheapest paths has other steps"));
    EXPECT_THAT(page, Not(HasSubstr("<h2>Tuning")));
}

TEST(Report, MemoryHasARectangleForEachPiece) {
    const auto pieces = arena_blocks(gpt2_report().memory);
    EXPECT_GT(pieces.size(), 50u);
    const auto rects = elements_of(memory_chart(gpt2_report()), "rect", "memory");
    EXPECT_EQ(rects.size(), pieces.size());
    for (const Element& rect : rects) {
        EXPECT_GE(rect.number("y"), 0);
        EXPECT_LE(rect.number("y") + rect.number("height"), 380);
    }
}

TEST(TimeChart, SumsCallsByKernel) {
    const ReportData& study = gpt2_report();
    const std::vector<KernelTime> times = kernel_times(study);
    double seconds = 0, expected = 0, took = 0;
    int calls = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        seconds += times[i].seconds;
        expected += times[i].expected;
        calls += times[i].calls;
        if (i > 0) { EXPECT_GE(times[i - 1].seconds, times[i].seconds); }
    }
    for (const InstructionProfile& each : study.profile) took += each.seconds;
    EXPECT_EQ(calls, static_cast<int>(study.profile.size()));
    EXPECT_NEAR(seconds, took, 1e-9);
    EXPECT_NEAR(expected, took, 1e-9) << "shares of the whole";
    EXPECT_LE(elements_of(time_chart(study), "rect").size(), 13u);
}

TEST(DataflowChart, HasARowAndABarForEachInstruction) {
    const ReportData& study = gpt2_report();
    const std::string chart = dataflow_chart(study);
    const auto instructions = study.instructions();
    EXPECT_EQ(elements_of(chart, "line", "tick").size(), instructions.size());
    double longest_seconds = 0, longest_bar = 0;
    std::vector<double> bars;
    for (const Element& rect : elements_of(chart, "rect"))
        if (rect.number("height") == 14) bars.push_back(rect.number("width"));
    ASSERT_EQ(bars.size(), instructions.size());
    for (std::size_t i = 0; i < bars.size(); ++i) {
        longest_seconds = std::max(longest_seconds, study.seconds()[i]);
        longest_bar = std::max(longest_bar, bars[i]);
    }
    EXPECT_GT(longest_bar, 200) << "of the width that there is";
    for (std::size_t i = 0; i < bars.size(); ++i)
        EXPECT_NEAR(bars[i], std::max(1.0, study.seconds()[i] / longest_seconds * longest_bar), 0.11) << i;
    EXPECT_THAT(chart, HasSubstr("transformer.wte.weight"));
    std::size_t far = 0;
    std::vector<int> number(study.run_bucket().instructions.size(), -1);
    int next = 0;
    for (std::size_t i = 0; i < number.size(); ++i)
        if (!study.run_bucket().instructions[i].at_bind) number[i] = next++;
    for (const DataflowEdge& edge : dataflow_edges(study.run_bucket())) {
        const int from = number[static_cast<std::size_t>(edge.from)], to = number[static_cast<std::size_t>(edge.to)];
        far += from >= 0 && to >= 0 && to != from + 1;
    }
    EXPECT_GT(far, 20u);
    EXPECT_EQ(elements_of(chart, "path", "edge").size(), far);
}

TEST(AlternativesTable, ListsInstructionsOfOnlyOneProgram) {
    const ReportData& study = gpt2_report();
    const std::string table = alternatives_table(study, *study.runner_up, "runner-up");
    EXPECT_NO_THROW(elements_in(table));
    const auto removed = elements_of(table, "td", "gone"), added = elements_of(table, "td", "come");
    ASSERT_EQ(removed.size(), 1u);
    ASSERT_EQ(added.size(), 1u);
    EXPECT_THAT(added[0].text, HasSubstr("cpu.other.kernel@1 | "));
    EXPECT_THAT(removed[0].text, HasSubstr(study.run_bucket().instructions.back().chosen.kernel));
    EXPECT_THAT(table, HasSubstr(time_text(study.run_bucket().seconds)));
}

/// The path that is cheaper by summed times is not the runner-up, and the page shows why it was not selected.
TEST(Report, ReportsTheCheaperSumApartFromTheRunnerUp) {
    ReportData study = gpt2_report();
    EXPECT_THAT(report_of(study), Not(HasSubstr("Cheaper by sums")));
    study.least_by_sums = study.runner_up;
    study.least_by_sums->kept_bytes = 1 << 20;
    study.decided_by = "slower as a whole program: 1.03x";
    study.why.trials = {{{}, true, 0.01, 0.97, 0.96, 0.98, 12, true}};
    const std::string page = report_of(study);
    EXPECT_NO_THROW(elements_in(page));
    EXPECT_THAT(page, HasSubstr("<h2>Cheaper by sums</h2>"));
    EXPECT_THAT(page, HasSubstr("It was not selected: slower as a whole program: 1.03x. It keeps 1 MiB"));
    EXPECT_THAT(page, HasSubstr("program trials, times as long as this program: 1.03x ("));
    EXPECT_THAT(page, HasSubstr("<h2>Summary</h2>"));
}

TEST(TuningChart, HasAPointForEachMeasurement) {
    const std::string chart = tuning_chart(gpt2_report().tuning);
    const auto points = elements_of(chart, "rect", "dot");
    ASSERT_EQ(points.size(), 3u);
    EXPECT_LT(points[0].number("x"), points[1].number("x"));
    EXPECT_NEAR((points[1].number("x") - points[0].number("x")) * 4, points[2].number("x") - points[0].number("x"),
                0.5);
    EXPECT_GT(points[0].number("y"), points[2].number("y")) << "more is higher";
    EXPECT_NO_THROW(elements_in(tuning_chart({})));
}

TEST(ReportStyle, OfDefinitions) {
    EXPECT_EQ(style_of("fused"), "product");
    EXPECT_EQ(style_of("attention"), "attention");
    EXPECT_EQ(style_of("add_layer_norm"), "rows");
    EXPECT_EQ(style_of("max_reduce"), "rows");
    EXPECT_EQ(style_of("gelu_tanh"), "pointwise");
    EXPECT_EQ(style_of("gather"), "moves");
}

/// The page that the command writes, with a run.
TEST(Report, IsWrittenByTheCommand) {
    const test::TempFolder temp;
    const std::string graph = temp.write("g.cairn", test::layer_text()).string();
    const test::Outcome outcome =
        test::cairn_command({"explain", graph, "--html", (temp / "g.html").string(), "--split", "N=4", "--size", "N=2",
                             "--mode", "normal", "--db", (temp / "t.db").string()});
    EXPECT_TRUE(test::succeeds(outcome, test::seeded_weights_line));
    EXPECT_EQ(outcome.out, "");
    const std::string page = test::read_file(temp / "g.html");
    EXPECT_NO_THROW(elements_in(page));
    for (const char* title : {"Programs", "Where the time goes", "The runner-up", "Memory", "Tuning", "Instructions"})
        EXPECT_THAT(page, HasSubstr(std::string("<h2>") + title + "</h2>"));
    EXPECT_THAT(page, HasSubstr("The rest of this page is about N in 1..4."));
    EXPECT_GE(elements_of(page, "td", "come").size(), 1u);
}

}  // namespace
}  // namespace cairn::cli
