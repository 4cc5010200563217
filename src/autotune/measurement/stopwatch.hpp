#pragma once

#include "autotune/measurement/operands.hpp"
#include "autotune/measurement/team_clock.hpp"
#include "device/cpu/team.hpp"
#include "device/cpu/thread_pool.hpp"

#include <cstdint>

namespace cairn::autotune {

/// Times calls of one kernel as a program would make them: by all members of the pool, one call after another, with a
/// barrier after each. The references must outlive it.
class Stopwatch {
public:
    Stopwatch(const Kernel& kernel, const Operands& operands, device::ThreadPool& pool);

    /// Seconds of `calls` calls. Exceptions of the kernel become an Error that names it.
    double time(std::int64_t calls);

private:
    static void run(void* watch, int rank, int size);

    const Kernel& kernel_;
    const Operands& operands_;
    device::ThreadPool& pool_;
    device::TeamState team_;
    TeamClock clock_;
    std::int64_t calls_ = 1;
};

}  // namespace cairn::autotune
