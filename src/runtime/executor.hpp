#pragma once

#include "cairn/args.hpp"
#include "device/cpu/team.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

/// The loop that runs a program. It sees plain arrays only: all names, sizes and choices were settled before.
namespace cairn::runtime {

/// One instruction, ready to be called.
struct KernelLaunch {
    void (*run)(const Args& args, Team& team);
    Args args;
};

/// When a member worked on a step, in seconds since the region began.
struct TimeSpan {
    double begin = 0, end = 0;
};

/// One parallel region over a list of steps; every member of the pool works through it.
struct ParallelRegion {
    const KernelLaunch* steps = nullptr;
    std::int64_t count = 0;
    /// Of each step, how many steps from it on are too small to share: rank 0 runs such a stretch alone, and the
    /// members meet once behind it. Null: all are shared.
    const std::int32_t* serial_steps = nullptr;
    device::TeamState* team = nullptr;
    double* seconds = nullptr;                    ///< of each step, filled in when not null
    TimeSpan* spans = nullptr;                    ///< of each step those of all members, filled in when `seconds` are
    double began = 0;                             ///< by now(), where there are `spans`
    bool (*should_stop)(void* caller) = nullptr;  ///< asked between steps by rank 0; null: never
    void (*progress)(void* caller, std::int64_t done) = nullptr;  ///< told after each step by rank 0
    void* caller = nullptr;
    bool stop_agreed = false;  ///< set while all meet: the caller wants to stop

    /// How it ended.
    std::int64_t stopped = -1;             ///< steps that were complete when the caller wanted to stop; -1: it did not
    std::int64_t reached = -1;             ///< the last step that may have begun
    std::atomic<std::int64_t> failed{-1};  ///< the step whose kernel reported a failure or threw
    std::exception_ptr thrown;             ///< what the first kernel threw that did

    /// Steps that may have begun, all from the first on.
    std::int64_t begun() const noexcept { return stopped >= 0 && failed < 0 ? stopped : std::min(reached + 1, count); }
};

/// Seconds of the clock that profiles go by.
double now() noexcept;

/// What each member does: step, meet, step, meet. All members leave after the same step.
void run_team_member(ParallelRegion& region, int rank, int size);
/// The same as the body of a ThreadPool::run, whose context is the Region.
void run_region(void* region, int rank, int size);

}  // namespace cairn::runtime
