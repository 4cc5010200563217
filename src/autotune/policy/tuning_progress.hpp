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

/// What the plan in hand is expected to take while a tune goes on: each of its calls as it was measured, or as the best
/// was that makes the same at the same sizes; else as it is expected. What is done once is left out.
class TuningProgress {
public:
    TuningProgress(std::span<const selection::Bucket> buckets, const selection::Selections& plan,
                   const selection::CostModel& costs);

    /// To be called when these have been measured.
    void learn(const TuningTask& task, const selection::CostModel& costs);
    /// Adds a point where the plan has changed since the last.
    void note(double seconds, std::int64_t measured);
    /// All points, the last of them at the end.
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
