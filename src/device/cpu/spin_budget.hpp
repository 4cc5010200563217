#pragma once

#include "device/cpu/spin.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace cairn::device {

/// Adaptive limit of spinning before sleeping. Spinning is the quickest way to wait for a thread that runs on another
/// CPU, and a waste if that thread needs this very CPU: because it is pinned to it, or its own was taken by another
/// program.
///
/// A spin that times out halves the budget, down to `least`; a successful one restores it. To detect that a CPU has
/// become free, a full spin is tried now and then: after 2, 4, 8, ... timeouts, at most `max_pause`.
///
///     SpinBudget budget(100us, 256);
///     if (!budget.wait([&] { return ready.load(); })) sleep_on(ready);
///
/// Thread-safe; while spinning succeeds it is only read.
class SpinBudget {
public:
    static constexpr std::chrono::nanoseconds least = std::chrono::microseconds(2);

    /// `most` zero: wait() checks once and never spins.
    SpinBudget(std::chrono::nanoseconds most, std::uint32_t max_pause) noexcept
        : max_(most.count()), max_pause_(max_pause), now_(most.count()) {}

    /// Waits for `done()` without sleeping, for at most the current budget. Returns whether it became true.
    template <class Done>
    bool wait(const Done& done) noexcept {
        if (done()) return true;
        if (max_ <= 0) return false;
        const std::int64_t budget = next();
        const bool arrived = spin_until(done, std::chrono::nanoseconds(budget));
        if (!arrived)
            record_miss(budget);
        else if (now_.load(std::memory_order_relaxed) != max_)
            restore();
        return arrived;
    }

    /// The budget of the next wait.
    std::chrono::nanoseconds now() const noexcept {
        return std::chrono::nanoseconds(now_.load(std::memory_order_relaxed));
    }

private:
    bool is_least(std::int64_t budget) const noexcept { return budget <= std::min(least.count(), max_); }

    std::int64_t next() const noexcept {
        const std::int64_t budget = now_.load(std::memory_order_relaxed);
        const bool tries_full_spin =
            is_least(budget) && missed_.load(std::memory_order_relaxed) >= pause_.load(std::memory_order_relaxed);
        return tries_full_spin ? max_ : budget;
    }

    // Threads that miss at the same time may lose counts: the count only times the next full spin.
    void record_miss(std::int64_t budget) noexcept {
        if (is_least(budget)) {
            missed_.store(missed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        } else if (is_least(now_.load(std::memory_order_relaxed))) {
            missed_.store(0, std::memory_order_relaxed);
            pause_.store(std::min(max_pause_, 2 * pause_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
        } else {
            now_.store(std::max(budget / 2, std::min(least.count(), max_)), std::memory_order_relaxed);
        }
    }

    void restore() noexcept {
        now_.store(max_, std::memory_order_relaxed);
        missed_.store(0, std::memory_order_relaxed);
        pause_.store(first_pause, std::memory_order_relaxed);
    }

    static constexpr std::uint32_t first_pause = 2;

    const std::int64_t max_;  // nanoseconds
    const std::uint32_t max_pause_;
    std::atomic<std::int64_t> now_;
    std::atomic<std::uint32_t> missed_{0}, pause_{first_pause};
};

}  // namespace cairn::device
