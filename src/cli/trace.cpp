#include "cli/trace.hpp"

#include "cli/flow.hpp"
#include "cli/output.hpp"

namespace cairn::cli {

std::string trace_of(const Study& study) {
    const auto microseconds = [](double seconds) { return nanoseconds(seconds) / 1e3; };
    Row events = Row::array();
    const std::string run = study.graph + (study.sizes.empty() ? "" : " at " + study.sizes);
    events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", run}}}});
    double begin = 0;
    for (const InstructionProfile& each : study.profile) {
        events.push_back({{"name", definition_of(each.problem)},
                          {"cat", "instruction"},
                          {"ph", "X"},
                          {"ts", microseconds(begin)},
                          {"dur", microseconds(each.seconds)},
                          {"pid", 1},
                          {"tid", 1},
                          {"args",
                           {{"kernel", each.kernel},
                            {"problem", each.problem},
                            {"expected_us", microseconds(each.expected_seconds)}}}});
        begin += each.seconds;
    }
    const Row trace{{"traceEvents", events}, {"displayTimeUnit", "ns"}};
    return trace.dump(1, ' ', false, Row::error_handler_t::replace) + '\n';
}

}  // namespace cairn::cli
