#pragma once

#include "cairn/args.hpp"
#include "device/cpu/barrier.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cairn::device {

/// What the members of a Team share while a region runs; the executor owns one per instance and hands it to
/// ThreadPool::run.
///
///     TeamState state(pool.size(), pool.spin());
///     state.begin();
///     pool.run([](void* c, int rank, int size) {                 // c holds state and instructions
///         Team team(rank, size, &state);
///         for (const Instruction& it : instructions) { it.run(it.args, team); state.next_instruction(); }
///     }, &c, &state.barrier);
///     if (const char* reason = state.failure()) throw Error(...);
struct TeamState {
    TeamState(int members, std::chrono::nanoseconds spin) noexcept : barrier(members, spin) {}

    /// Forgets the last region: no failure, chunks from 0. Call before each one.
    void begin() noexcept {
        next_chunk.store(0, std::memory_order_relaxed);
        first_failure.store(nullptr, std::memory_order_relaxed);
    }

    /// Waits for all members, then lets the chunks start at 0 again. Throws RegionAborted when a member failed.
    void next_instruction() {
        const bool met = barrier.wait([this]() noexcept { next_chunk.store(0, std::memory_order_relaxed); });
        if (!met) throw RegionAborted{};
    }

    /// The reason of the first Team::fail since begin(), or null.
    const char* failure() const noexcept { return first_failure.load(std::memory_order_acquire); }

    Barrier barrier;
    alignas(64) std::atomic<std::int64_t> next_chunk{0};
    alignas(64) std::atomic<const char*> first_failure{nullptr};
};

}  // namespace cairn::device
