#pragma once

#include "device/command_buffer.hpp"
#include "device/cpu/team.hpp"

#include <cstdint>
#include <span>

/// The executor of the CPU: the loop that runs a program. It sees plain arrays only: names, sizes and choices are
/// resolved before.
namespace cairn::device {

/// One parallel region over a list of launches; every thread of the pool executes it.
struct ParallelRegion {
    std::span<const KernelLaunch> launches;
    /// Per launch, the number of launches from it on that are too small to share: rank 0 runs such a sequence alone,
    /// with one barrier after it. Null: all launches are shared.
    const std::int32_t* serial_launches = nullptr;
    TeamState& team;
    Submission& submission;
    double began = 0;          ///< start of the region by now(), if there are spans
    bool stop_agreed = false;  ///< set at the barrier: the caller wants to stop
};

/// Time of the clock that profiles use, in seconds.
double now() noexcept;

/// Loop of each member: launch, barrier, launch, barrier. All members leave after the same launch.
void run_team_member(ParallelRegion& region, int rank, int size);

}  // namespace cairn::device
