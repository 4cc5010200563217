#pragma once

#include "device/cpu/spin.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace cairn::device {

/// How long to wait awake before sleeping, learned from how waiting went. Spinning is the quickest way to meet a thread
/// that is at work on another CPU, and a waste when that thread has to wait for this very CPU: pinned beside it, or
/// taken by another program.
///
/// A spin that ended in vain halves the budget, down to `least`; one that met its end restores it. So that a CPU that
/// has come free is noticed, a full spin is tried now and then: after 2, 4, 8, ... waits in vain, at most `max_pause`.
///
///     SpinBudget budget(100us, 256);
///     if (!budget.wait([&] { return ready.load(); })) sleep_on(ready);
///
/// For any number of threads at once; while spinning pays it is only read.
class SpinBudget {
public:
    static constexpr std::chrono::nanoseconds least = std::chrono::microseconds(2);

    /// `most` zero: wait() asks once and never spins.
    SpinBudget(std::chrono::nanoseconds most, std::uint32_t max_pause) noexcept
        : most_(most.count()), max_pause_(max_pause), now_(most.count()) {}

    /// Waits for `done()` without sleeping, for no longer than seems worth it. Returns whether it became true.
    template <class Done>
    bool wait(const Done& done) noexcept {
        if (done()) return true;
        if (most_ <= 0) return false;
        const std::int64_t budget = next();
        const bool arrived = spin_until(done, std::chrono::nanoseconds(budget));
        if (!arrived)
            record_miss(budget);
        else if (now_.load(std::memory_order_relaxed) != most_)
            restore();
        return arrived;
    }

    /// What the next wait may take.
    std::chrono::nanoseconds now() const noexcept {
        return std::chrono::nanoseconds(now_.load(std::memory_order_relaxed));
    }

private:
    bool is_least(std::int64_t budget) const noexcept { return budget <= std::min(least.count(), most_); }

    std::int64_t next() const noexcept {
        const std::int64_t budget = now_.load(std::memory_order_relaxed);
        const bool tries =
            is_least(budget) && missed_.load(std::memory_order_relaxed) >= pause_.load(std::memory_order_relaxed);
        return tries ? most_ : budget;
    }

    // Threads that miss at once may lose each other's count: it only times the next try.
    void record_miss(std::int64_t budget) noexcept {
        if (is_least(budget)) {
            missed_.store(missed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        } else if (is_least(now_.load(std::memory_order_relaxed))) {
            missed_.store(0, std::memory_order_relaxed);
            pause_.store(std::min(max_pause_, 2 * pause_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
        } else {
            now_.store(std::max(budget / 2, std::min(least.count(), most_)), std::memory_order_relaxed);
        }
    }

    void restore() noexcept {
        now_.store(most_, std::memory_order_relaxed);
        missed_.store(0, std::memory_order_relaxed);
        pause_.store(first_pause, std::memory_order_relaxed);
    }

    static constexpr std::uint32_t first_pause = 2;

    const std::int64_t most_;  // nanoseconds
    const std::uint32_t max_pause_;
    std::atomic<std::int64_t> now_;
    std::atomic<std::uint32_t> missed_{0}, pause_{first_pause};
};

}  // namespace cairn::device
