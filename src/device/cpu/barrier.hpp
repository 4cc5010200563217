#pragma once

#include "device/cpu/spin_budget.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cairn::device {

/// Thrown by a member to leave an aborted region. Not a std::exception, so that no kernel takes it for a fault of its
/// own; the thread pool catches it.
struct RegionAborted {};

/// A barrier for a fixed number of threads. Spins within a SpinBudget, then sleeps on a futex; with a budget of zero
/// (more threads than CPUs) it sleeps at once. No lock, no allocation.
///
///     barrier.wait();                            // all members
///     barrier.wait([&] { next.store(0); });      // the last member to arrive runs this while the others still wait
///
/// Once aborted, every present and future wait() returns false until reset(): no member waits for one that has failed.
class Barrier {
public:
    /// How often a barrier that has given up spinning tries again (SpinBudget).
    static constexpr std::uint32_t max_spin_pause = 256;

    /// Barriers may share a budget: what one learns about the CPUs holds for the others. It must outlive the barrier.
    Barrier(int members, SpinBudget& spin) noexcept : members_(static_cast<std::uint32_t>(members)), spin_(spin) {}
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;

    int members() const noexcept { return static_cast<int>(members_); }

    /// Waits until all members have arrived. False if aborted.
    [[nodiscard]] bool wait() noexcept {
        return wait([] {});
    }

    /// As wait(); the last member to arrive runs `completion`, which must not throw, before any member continues.
    template <class Completion>
    [[nodiscard]] bool wait(const Completion& completion) noexcept {
        // A member reads the epoch before it counts itself: the epoch cannot advance until it has.
        const std::uint32_t epoch = epoch_.load(std::memory_order_relaxed);
        if ((epoch & aborted_bit) != 0) return false;
        if (members_ == 1) {
            completion();
            return true;
        }
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < members_) return wait_past(epoch);
        completion();
        arrived_.store(0, std::memory_order_relaxed);
        return open();
    }

    /// Makes all present and future waits return false. May be called by any thread.
    void abort() noexcept;
    bool aborted() const noexcept { return (epoch_.load(std::memory_order_acquire) & aborted_bit) != 0; }

    /// Prepares for a new region. No thread may be waiting.
    void reset() noexcept;

private:
    static constexpr std::uint32_t aborted_bit = 1, step = 2;

    bool wait_past(std::uint32_t epoch) noexcept;
    bool open() noexcept;
    void wake_sleepers() noexcept;

    const std::uint32_t members_;
    SpinBudget& spin_;
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> epoch_{0};  // number of completed barriers in steps of two; the low bit
                                                       // means aborted
    std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace cairn::device
