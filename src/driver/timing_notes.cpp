#include "driver/timing_notes.hpp"

#include "autotune/database/environment_text.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace cairn::driver {
namespace {

/// Times of this machine that are not used because they were measured with another number of threads.
std::vector<std::string> thread_notes(const selection::CostModel& costs) {
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

/// By which rates the times of a device are estimated; empty if the program has stated them itself.
std::string rates_note(Device device, RateSource source) {
    switch (source) {
        case RateSource::stated: break;
        case RateSource::nominal:
            return fmt::format(
                "times of {} that are not measured are estimated by nominal rates: tune on it, which measures them",
                to_string(device));
        case RateSource::measured:
            return fmt::format("times of {} that are not measured are estimated by its measured rates",
                               to_string(device));
    }
    return {};
}

}  // namespace

std::vector<std::string> timing_notes(const selection::CostModel& costs) {
    std::vector<std::string> notes = thread_notes(costs);
    for (const auto& [device, conditions] : costs.others)
        if (std::string note = rates_note(device, conditions.rates); !note.empty()) notes.push_back(std::move(note));
    return notes;
}

}  // namespace cairn::driver
