#pragma once

#include "cairn/explanation.hpp"
#include "tune/rivals.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0::tune {

/// What the plan in hand is expected to take while a tune goes on: each of its calls as it was measured, or as the best
/// was that makes the same at the same sizes; else as it is expected. What is done once is left out.
class Curve {
public:
    Curve(std::span<const select::Bucket> buckets, const select::Selections& plan, const select::CostSource& costs);

    /// To be called when these have been measured.
    void learn(const Rivals& rivals, const select::CostSource& costs);
    /// Adds a point where the plan has changed since the last.
    void note(double seconds, std::int64_t measured);
    /// All points, the last of them at the end.
    std::vector<TuningPoint> end(double seconds, std::int64_t measured);

private:
    struct Part {
        double runs = 0, seconds = 0;
    };
    std::map<std::string, Part> calls_;  // by select::name_of_call
    double expected_ = 0;
    std::vector<TuningPoint> points_;
};

/// Lines `SECONDS EXPECTED MEASURED`.
std::string to_string(std::span<const TuningPoint> points);
/// The inverse of to_string; nothing for any other text.
std::vector<TuningPoint> parse_points(std::string_view text);

}  // namespace cairn::inline v0::tune
