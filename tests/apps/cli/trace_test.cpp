#include "apps/cli/trace.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cairn::cli {
namespace {

InstructionProfile profiled(const char* kernel, Device device, std::vector<ThreadSpan> spans) {
    InstructionProfile made{kernel, "exp | f32[4] -> f32[4]", 1e-6, 2e-6, std::move(spans)};
    made.device = device;
    return made;
}

using Event = std::pair<int, std::string>;  // its track and kernel

TEST(Trace, HasATrackForEachThreadAndEachDevice) {
    ReportData study;
    study.graph = "g";
    study.profile = {profiled("cuda.copy@1", Device::cuda(), {{0, 1e-6}}),
                     profiled("cpu.exp@1", Device::cpu, {{2e-6, 3e-6}, {2e-6, 4e-6}}),
                     profiled("cuda1.exp@1", Device::cuda(1), {{5e-6, 6e-6}}),
                     profiled("cuda.exp@1", Device::cuda(), {{7e-6, 9e-6}}),
                     profiled("cpu.tail@1", Device::cpu, {{9e-6, 10e-6}, {0, 0}})};
    const nlohmann::json trace = nlohmann::json::parse(trace_of(study));
    std::map<int, std::string> tracks;
    std::vector<Event> events;
    double begin = -1;
    for (const auto& event : trace["traceEvents"]) {
        if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
        if (event["ph"] != "X") continue;
        events.emplace_back(event["tid"], event["args"]["kernel"]);
        EXPECT_GE(event["ts"].get<double>(), begin) << "all are on one time axis";
        begin = event["ts"];
    }
    EXPECT_EQ(tracks, (std::map<int, std::string>{{1, "thread 0"}, {2, "thread 1"}, {3, "cuda"}, {4, "cuda:1"}}));
    EXPECT_THAT(events, testing::ElementsAre(Event{3, "cuda.copy@1"}, Event{1, "cpu.exp@1"}, Event{2, "cpu.exp@1"},
                                             Event{4, "cuda1.exp@1"}, Event{3, "cuda.exp@1"}, Event{1, "cpu.tail@1"}));
}

}  // namespace
}  // namespace cairn::cli
