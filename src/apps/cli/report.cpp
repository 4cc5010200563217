#include "apps/cli/report.hpp"

#include "apps/cli/alternatives_table.hpp"
#include "apps/cli/bucket_output.hpp"
#include "apps/cli/dataflow_chart.hpp"
#include "apps/cli/memory_chart.hpp"
#include "apps/cli/output.hpp"
#include "apps/cli/report_style.hpp"
#include "apps/cli/svg.hpp"
#include "apps/cli/time_chart.hpp"
#include "apps/cli/tuning_chart.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::cli {
namespace {

std::string section(std::string_view title, std::string_view words, const std::string& content) {
    return fmt::format("<h2>{}</h2>\n<p>{}</p>\n{}", escaped(title), escaped(words), content);
}

std::string panel(const std::string& content) { return "<div class=\"panel\">\n" + content + "</div>\n"; }

std::string tile(const std::string& figure, std::string_view name) {
    return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", escaped(figure), escaped(name));
}

std::string bytes(std::int64_t count) { return bytes_text(static_cast<double>(count)); }

std::string head(const ReportData& study) {
    std::string text = fmt::format("<h1>{}</h1>\n<p>", escaped(study.graph));
    if (!study.sizes.empty()) text += fmt::format("run at {}; ", escaped(study.sizes));
    for (std::size_t i = 0; i < study.how.size(); ++i)
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", escaped(study.how[i].first), escaped(study.how[i].second));
    const auto [all, measured] = count_run_instructions(study.run_bucket());
    return text + "</p>\n<div class=\"tiles\">\n" + tile(time_text(study.run_seconds), "a run, median") +
           tile(time_text(study.run_bucket().seconds), "expected at the representative sizes") +
           tile(fmt::format("{}", all), fmt::format("instructions a run, {} measured", measured)) +
           tile(bytes(study.memory.arena), "arena at these sizes") +
           tile(bytes(study.memory.weights + study.memory.bound),
                fmt::format("weights, {} of them packed", bytes(study.memory.bound))) +
           tile(bytes(study.memory.states), "states") + "</div>\n";
}

std::string buckets(const ReportData& study) {
    if (study.why.buckets.size() < 2) return {};
    std::string table =
        "<table>\n<tr><th>sizes</th><th class=\"number\">expected a run</th><th class=\"number\">"
        "instructions</th><th class=\"number\">measured</th><th>digest</th></tr>\n";
    for (const ExplainedBucket& bucket : study.why.buckets) {
        const auto [all, measured] = count_run_instructions(bucket);
        table += fmt::format(
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}"
            "</td><td><code>{}</code></td></tr>\n",
            escaped(bucket_text(bucket)), time_text(bucket.seconds), all, measured, digest_of(bucket));
    }
    return section(
        "Programs",
        fmt::format("One for each range of sizes. The rest of this page is about {}.", bucket_text(study.run_bucket())),
        panel(table + "</table>\n"));
}

std::string legend(bool with_tick) {
    std::string text = "<div class=\"legend\">";
    for (const auto& [style, meaning] : style_legend)
        text += fmt::format("<span><i class=\"{}\"></i>{}</span>", style, meaning);
    return text + (with_tick ? "<span><i class=\"tick\"></i>expected share of the whole</span></div>\n" : "</div>\n");
}

std::string memory(const ReportData& study) {
    const MemoryReport& report = study.memory;
    const double ratio =
        static_cast<double>(report.arena) / static_cast<double>(std::max<std::int64_t>(report.max_live, 1));
    if (arena_blocks(report).empty()) return section("Memory", "The arena is empty.", {});
    return section(
        "Memory",
        fmt::format("The arena over a run: from left to right instructions, upwards bytes. It has {}, {:.1f} % more "
                    "than are live at once, which no plan can go below.",
                    bytes(report.arena), 100 * (ratio - 1)),
        panel(legend(false) + memory_chart(study)));
}

std::string runner_up_section(const ReportData& study) {
    if (!study.runner_up)
        return section("The runner-up", "None of the cheapest paths has other steps for these sizes.", {});
    return section(
        "The runner-up",
        fmt::format("The next path by summed times: the steps that only one of the two has. It keeps {} in memory "
                    "permanently.",
                    bytes_text(study.runner_up->kept_bytes)),
        panel(alternatives_table(study, *study.runner_up, "runner-up")));
}

/// A section if the selected path is not the cheapest by summed times.
std::string least_by_sums(const ReportData& study) {
    if (!study.least_by_sums) return {};
    return section(
        "Cheaper by sums",
        fmt::format("By summed kernel times this path costs less than the selected one. It was not selected{}. It "
                    "keeps {} in memory permanently.",
                    study.decided_by.empty() ? "" : ": " + study.decided_by,
                    bytes_text(study.least_by_sums->kept_bytes)),
        panel(alternatives_table(study, *study.least_by_sums, "cheaper by sums")));
}

/// The output of `cairn explain`.
std::string summary_section(const ReportData& study) {
    return section("Summary", "As the command prints it, of this range of sizes.",
                   panel("<pre>" + escaped(summary(study.why, study.bucket)) + "</pre>\n"));
}

std::string tuning(const ReportData& study) {
    if (study.tuning.size() < 2) return {};
    return section("Tuning",
                   fmt::format("{} measurements. The curve is the expected run time of the best program so far: what "
                               "was not measured yet counts at its lower bound, so it rises to the measured time.",
                               study.tuning.size()),
                   panel(tuning_chart(study.tuning)));
}

}  // namespace

std::string report_of(const ReportData& study) {
    return fmt::format(
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
               "content=\"width=device-width, initial-scale=1\"/>\n<title>{} - cairn</title>\n<style>{}</style>\n"
               "</head>\n<body>\n",
               escaped(study.graph), report_style()) +
           head(study) + summary_section(study) + buckets(study) +
           section("Where the time goes",
                   "One profiled run, by kernel, beside the share of the whole that was expected.",
                   panel(legend(true) + time_chart(study))) +
           runner_up_section(study) + least_by_sums(study) + memory(study) + tuning(study) +
           section("Instructions",
                   fmt::format(
                       "In the order of a run. A row is one call of a kernel: a fused group of the graph's ops; lines "
                       "lead from what makes a value to what reads it. {} more are done once, on weights.",
                       study.run_bucket().instructions.size() - study.instructions().size()),
                   panel(legend(true) + dataflow_chart(study))) +
           "</body>\n</html>\n";
}

}  // namespace cairn::cli
