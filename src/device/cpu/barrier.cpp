#include "device/cpu/barrier.hpp"

#include "device/cpu/futex.hpp"

namespace cairn::device {

// A sleeper first increments the count and then checks the epoch (the kernel does, in futex_wait); the opener first
// changes the epoch and then checks for sleepers. All four accesses are sequentially consistent, so one of the two sees
// the other.
bool Barrier::wait_past(std::uint32_t epoch) noexcept {
    std::uint32_t now = epoch;
    const auto moved = [&] { return (now = epoch_.load(std::memory_order_acquire)) != epoch; };
    if (!spin_.wait(moved)) {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        while ((now = epoch_.load(std::memory_order_seq_cst)) == epoch) futex_wait(epoch_, epoch);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    return (now & aborted_bit) == 0;
}

bool Barrier::open() noexcept {
    const std::uint32_t before = epoch_.fetch_add(step, std::memory_order_seq_cst);
    wake_sleepers();
    return (before & aborted_bit) == 0;
}

void Barrier::abort() noexcept {
    epoch_.fetch_or(aborted_bit, std::memory_order_seq_cst);
    wake_sleepers();
}

void Barrier::wake_sleepers() noexcept {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake_all(epoch_);
}

void Barrier::reset() noexcept {
    arrived_.store(0, std::memory_order_relaxed);
    epoch_.fetch_and(~aborted_bit, std::memory_order_release);
}

}  // namespace cairn::device
