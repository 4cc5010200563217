#pragma once

#include "tests/emulated_cuda/clock.hpp"
#include "tests/emulated_cuda/device/runtime_calls.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cairn::emulated_cuda {

/// A copy of 16 bytes by cp.async.
struct StartedCopy {
    void* target;
    const void* source;  // null: zeros
    std::uint32_t number;
    bool is_early;  // it arrives at once, not at its wait
};

/// A thread of the cluster that is running.
struct Thread {
    std::uint32_t number = 0;  // in the cluster
    std::uint32_t block = 0;   // rank of its block in the cluster
    std::uint32_t warp = 0;    // in the cluster
    std::uint32_t lane = 0;
    Position position;

    ThreadClock clock;
    std::uint32_t fenced_time = 0;  // of its last fence after initialising mbarriers
    bool has_waited = false;        // for the launches that this one depends on
    bool has_finished = false;
    const char* waits_for = nullptr;
    int line = 0;  // of the text, where it waits
    int result = 0;
    const void* code = nullptr;  // of the access that is being checked
    std::uint64_t accesses = 0;  // since it last waited

    std::vector<StartedCopy> uncommitted;
    std::vector<std::vector<StartedCopy>> groups;
    bool has_arrived = false;  // at the barrier of the cluster, and has not waited
    std::uint32_t arrival_phase = 0;
};

/// Threads that wait for one another, with what they have released.
struct BarrierState {
    std::vector<Thread*> waiting;
    std::vector<ThreadClock> released;
    std::uint32_t expected = 0;  // of a named barrier
    int line = 0, any = 0, all = 1, count = 0;
};

/// Lanes of a warp that do one operation together.
struct WarpOperationState {
    WarpOperation operation;
    unsigned mask;
    int line;
    unsigned arrived = 0;
    std::array<void*, 32> parts{};
    std::array<Thread*, 32> lanes{};
};

/// A block of the running cluster.
struct BlockState {
    BarrierState barrier;
    std::array<BarrierState, 16> named;
    std::uint32_t finished = 0;
    bool has_triggered = false;
    std::uint32_t complete_at_trigger = 0;
};

/// An mbarrier; see mbarrier_init in kernels/cuda/text/async_copy.cuh.
struct Mbarrier {
    std::uint32_t arrivals = 0, pending = 0, phase = 0;
    std::int64_t bytes = 0;                              // expected and not received
    std::shared_ptr<std::vector<std::uint32_t>> merged;  // clocks of this phase
    const void* last_merged = nullptr;
    Clock completed;  // clock of the last phase
    std::vector<Thread*> waiting;
};

/// A write to shared memory that an mbarrier will receive.
struct PendingWrite {
    std::uint32_t target, bytes, barrier;
    const void* source;  // or null if the value is known
    std::array<unsigned char, 16> value;
    std::uint32_t thread, number;
};

}  // namespace cairn::emulated_cuda
