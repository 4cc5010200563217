#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace cairn::device {

/// Wall-clock time of the work of a team: from the first member's start to the last member's end. The clock of one
/// member would miss what the others did while the system suspended that member.
class TeamClock {
public:
    using Clock = std::chrono::steady_clock;

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

}  // namespace cairn::device
