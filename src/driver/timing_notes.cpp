#include "driver/timing_notes.hpp"

#include "autotune/database/environment_text.hpp"

#include <fmt/format.h>

#include <set>

namespace cairn::driver {

std::vector<std::string> timing_notes(const selection::CostModel& costs) {
    if (costs.timings == nullptr) return {};
    const auto own = autotune::parse_environment(costs.environment.hard);
    if (!own) return {};
    std::set<int> others;
    for (const TimingEnvironment& each : costs.timings->environments()) {
        if (each.hard == costs.environment.hard) return {};  // these times are usable
        const auto other = autotune::parse_environment(each.hard);
        if (!other || other->threads == own->threads) continue;
        autotune::EnvironmentDistance apart = autotune::environment_distance(*own, *other);
        apart.threads = 0;
        if (apart == autotune::EnvironmentDistance{}) others.insert(other->threads);
    }
    std::vector<std::string> notes;
    for (const int threads : others)
        notes.push_back(fmt::format("times in the database were measured with {} thread{}, this Context has {}",
                                    threads, threads == 1 ? "" : "s", own->threads));
    return notes;
}

}  // namespace cairn::driver
