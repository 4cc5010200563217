#include "apps/cli/trace.hpp"

#include "apps/cli/dataflow.hpp"
#include "apps/cli/output.hpp"

#include <fmt/format.h>

namespace cairn::cli {

std::string trace_of(const ReportData& study) {
    const auto microseconds = [](double seconds) { return nanoseconds(seconds) / 1e3; };
    OutputRow events = OutputRow::array();
    const std::string run = study.graph + (study.sizes.empty() ? "" : " at " + study.sizes);
    events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", run}}}});
    const std::size_t threads = study.profile.empty() ? 0 : study.profile.front().threads.size();
    for (std::size_t t = 0; t < threads; ++t)
        events.push_back({{"name", "thread_name"},
                          {"ph", "M"},
                          {"pid", 1},
                          {"tid", t + 1},
                          {"args", {{"name", fmt::format("thread {}", t)}}}});
    for (const InstructionProfile& each : study.profile)
        for (std::size_t t = 0; t < each.threads.size(); ++t) {
            const ThreadSpan& span = each.threads[t];
            if (span.begin == span.end) continue;
            events.push_back({{"name", definition_of(each.problem)},
                              {"cat", "instruction"},
                              {"ph", "X"},
                              {"ts", microseconds(span.begin)},
                              {"dur", microseconds(span.end - span.begin)},
                              {"pid", 1},
                              {"tid", t + 1},
                              {"args",
                               {{"kernel", each.kernel},
                                {"problem", each.problem},
                                {"seconds_us", microseconds(each.seconds)},
                                {"expected_us", microseconds(each.expected_seconds)}}}});
        }
    const OutputRow trace{{"traceEvents", events}, {"displayTimeUnit", "ns"}};
    return trace.dump(1, ' ', false, OutputRow::error_handler_t::replace) + '\n';
}

}  // namespace cairn::cli
