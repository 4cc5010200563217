#pragma once

#include "cairn/args.hpp"
#include "device/cpu/team.hpp"

#include <cstdint>

/// The loop that runs a program. It sees plain arrays only: all names, sizes and choices were settled before.
namespace cairn::inline v0::runtime {

/// One instruction, ready to be called.
struct Step {
    void (*run)(const Args& args, Team& team);
    Args args;
};

/// One parallel region over a list of steps; every member of the pool works through it.
struct Region {
    const Step* steps = nullptr;
    std::int64_t count = 0;
    device::TeamState* team = nullptr;
    double* seconds = nullptr;                                    ///< of each step, filled in when not null
    bool (*should_stop)(void* caller) = nullptr;                  ///< asked after each step by one member; null: never
    void (*progress)(void* caller, std::int64_t done) = nullptr;  ///< told after each step by one member
    void* caller = nullptr;
    bool stop_wanted = false;  ///< written by one member before it meets the others
    bool halted = false;       ///< set while they meet: a step failed or the caller wants to stop
};

/// What each member does: step, meet, step, meet. All members leave after the same step.
void run_member(Region& region, int rank, int size);

}  // namespace cairn::inline v0::runtime
