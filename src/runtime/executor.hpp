#pragma once

#include "cairn/args.hpp"
#include "device/cpu/team.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

/// Declares the executor, the loop that runs a program. It sees plain arrays only: names, sizes and choices are
/// resolved before.
namespace cairn::runtime {

/// One instruction, ready to call.
struct KernelLaunch {
    void (*run)(const Args& args, Team& team);
    Args args;
};

/// Time span in which a member worked on a step, in seconds since the region began.
struct TimeSpan {
    double begin = 0, end = 0;
};

/// One parallel region over a list of steps; every thread of the pool executes it.
struct ParallelRegion {
    const KernelLaunch* steps = nullptr;
    std::int64_t count = 0;
    /// Per step, the number of steps from it on that are too small to share: rank 0 runs such a sequence alone, with
    /// one barrier after it. Null: all steps are shared.
    const std::int32_t* serial_steps = nullptr;
    device::TeamState* team = nullptr;
    double* seconds = nullptr;                    ///< time of each step, filled in if not null
    TimeSpan* spans = nullptr;                    ///< spans of all members for each step, filled in when `seconds` are
    double began = 0;                             ///< start of the region by now(), if there are `spans`
    bool (*should_stop)(void* caller) = nullptr;  ///< polled between steps by rank 0; null: never
    void (*progress)(void* caller, std::int64_t done) = nullptr;  ///< called after each step by rank 0
    void* caller = nullptr;
    bool stop_agreed = false;  ///< set at the barrier: the caller wants to stop

    /// Outcome of the region.
    std::int64_t stopped = -1;             ///< number of steps complete when the caller wanted to stop; -1: it did not
    std::int64_t reached = -1;             ///< the last step that may have begun
    std::atomic<std::int64_t> failed{-1};  ///< the step whose kernel reported a failure or threw
    std::exception_ptr thrown;             ///< exception of the first kernel that threw

    /// Number of steps that may have begun, counted from the first.
    std::int64_t begun() const noexcept { return stopped >= 0 && failed < 0 ? stopped : std::min(reached + 1, count); }
};

/// Time of the clock that profiles use, in seconds.
double now() noexcept;

/// Loop of each member: step, barrier, step, barrier. All members leave after the same step.
void run_team_member(ParallelRegion& region, int rank, int size);
/// The same as the body of a ThreadPool::run; `region` is a ParallelRegion.
void run_region(void* region, int rank, int size);

}  // namespace cairn::runtime
