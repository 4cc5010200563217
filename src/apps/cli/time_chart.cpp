#include "apps/cli/time_chart.hpp"

#include "apps/cli/dataflow.hpp"
#include "apps/cli/output.hpp"
#include "apps/cli/report_style.hpp"
#include "apps/cli/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cairn::cli {
namespace {

constexpr double chart_width = 1090, names = 430, numbers = 190, row = 24;
constexpr std::size_t max_rows = 12;

/// `; 2 threads waited 7 % of it`
std::string waiting_text(const KernelTime& time) {
    if (time.threads < 2 || time.seconds <= 0) return {};
    const double waited = 1 - time.worked / (time.threads * time.seconds);
    return fmt::format("; {} threads waited {:.0f} % of it", time.threads, 100 * std::max(waited, 0.0));
}

}  // namespace

std::vector<KernelTime> kernel_times(const ReportData& study) {
    std::map<std::pair<std::string, std::string>, KernelTime> times;
    for (const InstructionProfile& each : study.profile) {
        const std::string definition = definition_of(each.problem);
        KernelTime& time = times[{each.kernel, definition}];
        time.kernel = each.kernel;
        time.definition = definition;
        ++time.calls;
        time.seconds += each.seconds;
        time.expected += each.expected_seconds * study.expected_scale();
        for (const ThreadSpan& span : each.threads) time.worked += span.end - span.begin;
        time.threads = static_cast<int>(each.threads.size());
    }
    std::vector<KernelTime> sorted;
    for (auto& [key, time] : times) sorted.push_back(std::move(time));
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const KernelTime& a, const KernelTime& b) { return a.seconds > b.seconds; });
    return sorted;
}

std::string time_chart(const ReportData& study) {
    std::vector<KernelTime> times = kernel_times(study);
    double total = 0, longest = 0;
    for (const KernelTime& time : times) total += time.seconds;
    if (times.size() > max_rows + 1) {
        KernelTime rest{fmt::format("{} others", times.size() - max_rows), "", 0, 0, 0, 0, times.front().threads};
        for (std::size_t i = max_rows; i < times.size(); ++i) {
            rest.calls += times[i].calls;
            rest.seconds += times[i].seconds;
            rest.expected += times[i].expected;
            rest.worked += times[i].worked;
        }
        times.resize(max_rows);
        times.push_back(rest);
    }
    for (const KernelTime& time : times) longest = std::max({longest, time.seconds, time.expected});
    const double scale = longest > 0 ? (chart_width - names - numbers) / longest : 0;
    Svg svg(chart_width, row * static_cast<double>(times.size()) + 4, "time by kernel");
    for (std::size_t i = 0; i < times.size(); ++i) {
        const KernelTime& time = times[i];
        const double y = row * static_cast<double>(i);
        const std::string name = fmt::format("{} x {}", time.calls, time.kernel);
        const std::string title = fmt::format("{} for {}: {}, expected {}{}", name, time.definition,
                                              time_text(time.seconds), time_text(time.expected), waiting_text(time));
        svg.text(0, y + 16, shortened(name, 60), "", title);
        svg.rect(names, y + 4, std::max(1.0, time.seconds * scale), 16, style_of(time.definition), title);
        svg.line(names + time.expected * scale, y + 2, names + time.expected * scale, y + 22, "tick");
        svg.text(chart_width - 70, y + 16, time_text(time.seconds), "end", title);
        svg.text(chart_width - 4, y + 16, fmt::format("{:.1f} %", total > 0 ? 100 * time.seconds / total : 0),
                 "soft end");
    }
    return std::move(svg).finish();
}

}  // namespace cairn::cli
