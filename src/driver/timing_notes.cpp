#include "driver/timing_notes.hpp"

#include "autotune/database/environment_text.hpp"

#include <fmt/format.h>

#include <set>

namespace cairn::driver {

std::vector<std::string> timing_notes(const selection::CostModel& costs) {
    if (costs.timings == nullptr) return {};
    const auto here = autotune::parse_environment(costs.environment.hard);
    if (!here) return {};
    std::set<int> others;
    for (const TimingEnvironment& each : costs.timings->environments()) {
        if (each.hard == costs.environment.hard) return {};  // these times are usable
        const auto there = autotune::parse_environment(each.hard);
        if (!there || there->threads == here->threads) continue;
        autotune::EnvironmentDistance apart = autotune::environment_distance(*here, *there);
        apart.threads = 0;
        if (apart == autotune::EnvironmentDistance{}) others.insert(there->threads);
    }
    std::vector<std::string> notes;
    for (const int threads : others)
        notes.push_back(fmt::format("times in the database were measured with {} thread{}, this Context has {}",
                                    threads, threads == 1 ? "" : "s", here->threads));
    return notes;
}

}  // namespace cairn::driver
