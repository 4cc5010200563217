#include "apps/cli/alternatives_table.hpp"

#include "apps/cli/output.hpp"
#include "apps/cli/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace cairn::cli {
namespace {

/// A group of equal calls.
struct CountedCall {
    std::string text;
    double seconds = 0;
    int count = 0;
};

/// By text: two paths list their steps in different orders.
using CallCounts = std::map<std::string, CountedCall>;

void count_call(CallCounts& calls, bool at_bind, const std::string& kernel, const std::string& problem,
                double seconds) {
    const std::string text = fmt::format("{}{} | {}", at_bind ? "once " : "", kernel, problem);
    CountedCall& call = calls.try_emplace(text, CountedCall{text}).first->second;
    call.seconds += seconds;
    ++call.count;
}

/// The calls of `all` that `other` lacks, with the difference of the counts.
std::vector<CountedCall> beyond(const CallCounts& all, const CallCounts& other) {
    std::vector<CountedCall> rest;
    for (const auto& [text, call] : all) {
        const auto found = other.find(text);
        const int more = call.count - (found == other.end() ? 0 : found->second.count);
        if (more > 0) rest.push_back({text, call.seconds * more / call.count, more});
    }
    return rest;
}

std::string cell(const std::vector<CountedCall>& calls, std::size_t i, std::string_view style) {
    if (i >= calls.size()) return "<td class=\"half\"></td><td></td>";
    const CountedCall& call = calls[i];
    return fmt::format("<td class=\"call half {}\">{}{}</td><td class=\"number\">{}</td>", style,
                       call.count > 1 ? fmt::format("{} x ", call.count) : "", escaped(call.text),
                       time_text(call.seconds));
}

}  // namespace

std::string alternatives_table(const ReportData& study, const AlternativePath& other, std::string_view title) {
    CallCounts left, right;
    double left_seconds = 0;
    for (const ExplainedInstruction& each : study.run_bucket().instructions) {
        count_call(left, each.at_bind, each.chosen.kernel, each.chosen.problem, each.chosen.seconds);
        left_seconds += each.at_bind ? 0 : each.chosen.seconds;
    }
    for (const PathStep& step : other.steps) count_call(right, step.at_bind, step.kernel, step.problem, step.seconds);
    const std::vector<CountedCall> removed = beyond(left, right), added = beyond(right, left);
    std::string table = fmt::format(
        "<table>\n<tr><th>chosen</th><th class=\"number\">time</th><th>{}</th><th class=\"number\">time</th></tr>\n",
        escaped(title));
    for (std::size_t i = 0; i < std::max(removed.size(), added.size()); ++i)
        table += fmt::format("<tr>{}{}</tr>\n", cell(removed, i, "gone"), cell(added, i, "come"));
    return table + fmt::format(
                       "<tr><td class=\"half\">a run, with what both have</td><td class=\"number\">{}</td>"
                       "<td class=\"half\">a run</td><td class=\"number\">{}</td></tr>\n</table>\n",
                       time_text(left_seconds), time_text(other.seconds));
}

}  // namespace cairn::cli
