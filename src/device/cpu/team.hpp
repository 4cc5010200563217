#pragma once

#include "cairn/args.hpp"
#include "device/cpu/barrier.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cairn::device {

/// Where and why data could not be computed with: what Team::fail was told.
struct Failure {
    const char* reason = nullptr;
    int input = -1;  ///< of the instruction; -1: not told
    std::int64_t position = 0, value = 0;
};

/// What the members of a Team share while a region runs; the executor owns one per instance and hands it to
/// ThreadPool::run.
///
///     TeamState state(pool.size(), pool.spin());
///     state.begin();
///     pool.run([](void* c, int rank, int size) {                 // c holds state and instructions
///         Team team(rank, size, &state);
///         for (const Instruction& it : instructions) { it.run(it.args, team); state.next_instruction(); }
///     }, &c, &state.barrier);
///     if (const Failure* failure = state.failure()) throw Error(...);
struct TeamState {
    TeamState(int members, std::chrono::nanoseconds spin) noexcept : barrier(members, spin) {}

    /// Forgets the last region: no failure, chunks from 0. Call before each one.
    void begin() noexcept {
        next_chunk.store(0, std::memory_order_relaxed);
        claimed.store(false, std::memory_order_relaxed);
        reported.store(false, std::memory_order_relaxed);
    }

    /// Keeps the first failure and ends the region.
    void fail(const Failure& failure) noexcept {
        if (!claimed.exchange(true, std::memory_order_acq_rel)) {
            first = failure;
            reported.store(true, std::memory_order_release);
        }
        barrier.abort();
    }

    /// Waits for all members, then lets the chunks start at 0 again. Throws RegionAborted when a member failed.
    void next_instruction() {
        const bool arrived = barrier.wait([this]() noexcept { next_chunk.store(0, std::memory_order_relaxed); });
        if (!arrived) throw RegionAborted{};
    }

    /// The first Team::fail since begin(), or null.
    const Failure* failure() const noexcept { return reported.load(std::memory_order_acquire) ? &first : nullptr; }

    Barrier barrier;
    alignas(64) std::atomic<std::int64_t> next_chunk{0};
    alignas(64) std::atomic<bool> claimed{false}, reported{false};
    Failure first;  // written by who claimed it, read once it is reported
};

}  // namespace cairn::device
