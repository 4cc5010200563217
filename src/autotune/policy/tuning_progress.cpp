#include "autotune/policy/tuning_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace cairn::autotune {
namespace {

/// Parses a number followed by `end`, and removes both from the text.
template <typename T>
bool read_number(std::string_view& text, char end, T& number) {
    const char* const last = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), last, number);
    if (fault != std::errc() || stop == last || *stop != end) return false;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
    return true;
}

}  // namespace

TuningProgress::TuningProgress(std::span<const selection::Bucket> buckets, const selection::Selections& plan,
                               const selection::CostModel& costs) {
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const auto& sizes : selection::representative_sizes(*buckets[b].graph.symbols()))
            for (const selection::Choice& choice : plan.buckets[b].chosen) {
                if (buckets[b].candidates.bound()[choice.goal.value]) continue;
                const selection::SizedProblem sized(at_sizes(*choice.candidate.problem, sizes));
                PlannedCall& planned = calls_[selection::call_key(*choice.candidate.kernel, sized)];
                planned.seconds = selection::estimate(*choice.candidate.kernel, sized, costs).seconds;
                const double runs = runs_of(buckets[b], choice);
                planned.runs += runs;
                expected_ += runs * planned.seconds;
            }
}

void TuningProgress::learn(const TuningTask& task, const selection::CostModel& costs) {
    const CandidateCall& first = task.calls.front();
    const auto planned = calls_.find(selection::call_key(*first.kernel, first.problem));
    if (planned == calls_.end()) return;
    double least = std::numeric_limits<double>::infinity();
    for (const CandidateCall& call : task.calls)
        if (const auto timing =
                costs.timings->find(call.problem, call.kernel->id, selection::environment_of(*call.kernel, costs),
                                    selection::policy_of(*call.kernel, costs)))
            if (timing->status == TimingStatus::ok) least = std::min(least, timing->median);
    if (std::isinf(least)) return;
    expected_ += planned->second.runs * (least - planned->second.seconds);
    planned->second.seconds = least;
}

void TuningProgress::note(double seconds, std::int64_t measured) {
    if (points_.empty() || points_.back().expected != expected_) points_.push_back({seconds, expected_, measured});
}

std::vector<TuningPoint> TuningProgress::end(double seconds, std::int64_t measured) {
    if (points_.empty() || points_.back().measured != measured) points_.push_back({seconds, expected_, measured});
    return std::move(points_);
}

std::string to_string(std::span<const TuningPoint> points) {
    std::string text;
    for (const TuningPoint& point : points)
        text += fmt::format("{} {} {}\n", point.seconds, point.expected, point.measured);
    return text;
}

std::vector<TuningPoint> parse_points(std::string_view text) {
    std::vector<TuningPoint> points;
    while (!text.empty()) {
        TuningPoint& point = points.emplace_back();
        if (!read_number(text, ' ', point.seconds) || !read_number(text, ' ', point.expected) ||
            !read_number(text, '\n', point.measured))
            return {};
    }
    return points;
}

}  // namespace cairn::autotune
