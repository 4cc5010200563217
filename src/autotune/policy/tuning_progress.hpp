#pragma once

#include "autotune/policy/tuning_tasks.hpp"
#include "cairn/explanation.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::autotune {

/// Expected time of the plan during a tune. Each of its calls counts with the measured time of the fastest call that
/// computes the same value at the same sizes; without measurements with its estimate. Calls that run once, at bind, are
/// left out.
class TuningProgress {
public:
    TuningProgress(std::span<const selection::Bucket> buckets, const selection::Selections& plan,
                   const selection::CostModel& costs);

    /// Updates the expected time; called when the task has been measured.
    void learn(const TuningTask& task, const selection::CostModel& costs);
    /// Adds a point if the expected time has changed since the last one.
    void note(double seconds, std::int64_t measured);
    /// Returns all points, the last one at the end of the tune.
    std::vector<TuningPoint> end(double seconds, std::int64_t measured);

private:
    struct PlannedCall {
        double runs = 0, seconds = 0;
    };
    std::map<std::string, PlannedCall> calls_;  // by selection::call_key
    double expected_ = 0;
    std::vector<TuningPoint> points_;
};

/// Lines `SECONDS EXPECTED MEASURED`.
std::string to_string(std::span<const TuningPoint> points);
/// The inverse of to_string; nothing for any other text.
std::vector<TuningPoint> parse_points(std::string_view text);

}  // namespace cairn::autotune
