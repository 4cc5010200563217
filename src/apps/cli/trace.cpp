#include "apps/cli/trace.hpp"

#include "apps/cli/dataflow.hpp"
#include "apps/cli/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace cairn::cli {

namespace {

/// The tracks of a run: the threads of the CPU, then each other device in the order of their first instructions.
class Tracks {
public:
    explicit Tracks(const std::vector<InstructionProfile>& profile) {
        for (const InstructionProfile& each : profile) {
            if (each.device == Device::cpu)
                threads_ = std::max(threads_, each.threads.size());
            else if (std::find(devices_.begin(), devices_.end(), each.device) == devices_.end())
                devices_.push_back(each.device);
        }
    }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (std::size_t t = 0; t < threads_; ++t) names.push_back(fmt::format("thread {}", t));
        for (const Device device : devices_) names.push_back(to_string(device));
        return names;
    }
    /// The index in names() of the track of a span.
    std::size_t of(const InstructionProfile& each, std::size_t span) const {
        if (each.device == Device::cpu) return span;
        const auto device = std::find(devices_.begin(), devices_.end(), each.device);
        return threads_ + static_cast<std::size_t>(device - devices_.begin());
    }

private:
    std::size_t threads_ = 0;
    std::vector<Device> devices_;
};

}  // namespace

std::string trace_of(const ReportData& study) {
    const auto microseconds = [](double seconds) { return nanoseconds(seconds) / 1e3; };
    OutputRow events = OutputRow::array();
    const std::string run = study.graph + (study.sizes.empty() ? "" : " at " + study.sizes);
    events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", run}}}});
    const Tracks tracks(study.profile);
    const std::vector<std::string> names = tracks.names();
    for (std::size_t t = 0; t < names.size(); ++t)
        events.push_back(
            {{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", t + 1}, {"args", {{"name", names[t]}}}});
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
                              {"tid", tracks.of(each, t) + 1},
                              {"args",
                               {{"kernel", each.kernel},
                                {"device", to_string(each.device)},
                                {"problem", each.problem},
                                {"seconds_us", microseconds(each.seconds)},
                                {"expected_us", microseconds(each.expected_seconds)}}}});
        }
    const OutputRow trace{{"traceEvents", events}, {"displayTimeUnit", "ns"}};
    return trace.dump(1, ' ', false, OutputRow::error_handler_t::replace) + '\n';
}

}  // namespace cairn::cli
