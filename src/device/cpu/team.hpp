#pragma once

#include "cairn/args.hpp"
#include "device/command_buffer.hpp"
#include "device/cpu/barrier.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cairn::device {

/// What the members of a Team share while a region runs; a command buffer owns one and hands it to ThreadPool::run.
///
///     TeamState state(pool.size(), pool.barrier_spin());
///     state.begin();
///     pool.run([](void* c, int rank, int size) {                 // c holds state and instructions
///         Team team(rank, size, &state);
///         for (const Instruction& it : instructions) { it.run(it.args, team); state.next_instruction(); }
///     }, &c, &state.barrier);
///     if (const Failure* failure = state.failure()) throw Error(...);
struct TeamState {
    TeamState(int members, SpinBudget& spin) noexcept : barrier(members, spin) {}

    /// Resets the failure and the chunk counter. Call before each region.
    void begin() noexcept {
        next_chunk.store(0, std::memory_order_relaxed);
        claimed.store(false, std::memory_order_relaxed);
        reported.store(false, std::memory_order_relaxed);
    }

    /// Records the first failure and aborts the region.
    void fail(const Failure& failure) noexcept {
        if (!claimed.exchange(true, std::memory_order_acq_rel)) {
            first = failure;
            reported.store(true, std::memory_order_release);
        }
        barrier.abort();
    }

    /// Waits for all members, then resets the chunk counter to 0. Throws RegionAborted when a member failed.
    void next_instruction() {
        const bool arrived = barrier.wait([this]() noexcept { next_chunk.store(0, std::memory_order_relaxed); });
        if (!arrived) throw RegionAborted{};
    }

    /// The first failure since begin(), or null.
    const Failure* failure() const noexcept { return reported.load(std::memory_order_acquire) ? &first : nullptr; }

    Barrier barrier;
    alignas(64) std::atomic<std::int64_t> next_chunk{0};
    alignas(64) std::atomic<bool> claimed{false}, reported{false};
    Failure first;  // written by the member that set `claimed`, read once `reported` is set
};

}  // namespace cairn::device
