#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace cairn::autotune {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double max_seconds = 1e8;  ///< upper limit of what is added to a time point

/// The time point `seconds` from now; now if they are negative.
inline Clock::time_point time_point_after(double seconds) {
    const std::chrono::duration<double> duration(std::clamp(seconds, 0.0, max_seconds));
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(duration);
}

/// Wall-clock time of the work of a team: from the first member's start to the last member's end. The clock of one
/// member would miss what the others did while the system suspended that member.
class TeamClock {
public:
    explicit TeamClock(int members) : spans_(static_cast<std::size_t>(members)) {}

    /// Each member calls both for itself, between two barriers of the team.
    void start(int rank) noexcept { spans_[static_cast<std::size_t>(rank)].first = Clock::now(); }
    void stop(int rank) noexcept { spans_[static_cast<std::size_t>(rank)].last = Clock::now(); }

    /// Valid after the second barrier.
    double seconds() const noexcept {
        Span all = spans_.front();
        for (const Span& span : spans_) all = {std::min(all.first, span.first), std::max(all.last, span.last)};
        return std::chrono::duration<double>(all.last - all.first).count();
    }

private:
    struct alignas(64) Span {
        Clock::time_point first, last;
    };
    std::vector<Span> spans_;
};

}  // namespace cairn::autotune
