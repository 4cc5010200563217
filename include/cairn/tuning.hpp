#pragma once

#include "cairn/context.hpp"
#include "cairn/timing_db.hpp"

#include <array>
#include <stop_token>

namespace cairn::inline v0 {

/// Limits of one measurement.
struct MeasureOptions {
    int blocks = 9;             ///< blocks timed, of which the median counts
    double max_seconds = 0.25;  ///< that the timed runs may take together, warm-up included
    bool cold = true;           ///< weights come from memory, not from a cache
    std::stop_token stop = {};  ///< heeded between blocks
};

/// Times one kernel on a Problem of constant sizes with the Context's threads, the way a program would run it: one
/// untimed run first, then blocks grown until the clock is fine enough. Operands hold seeded normal numbers and legal
/// indices; booleans are those of rows that are filled up at their end, the last quarter hidden. Where `cold`,
/// successive calls read weights, and large parts of states, from further and further on in a memory larger than the
/// last-level cache, up to 256 MB, which the Context keeps for the next measurement; other operands lie where the call
/// before left them. A kernel whose first run takes all of the time is not run again: the Timing is `censored` at that.
/// Throws Error(argument) when the kernel is unknown or refuses the problem, and an Error that names the kernel for
/// whatever it throws; Cancelled on stop. Stores nothing.
CAIRN_API Timing measure(const Problem& problem, std::string_view kernel, const Context& context,
                         const MeasureOptions& options = {});

/// What a time measured now with the context belongs to: what the timing database keeps beside it, and asks for.
CAIRN_API TimingEnvironment timing_environment(const Context& context);

/// What this machine can do: the roofline that estimates stand on.
struct Calibration {
    double flops = 0;            ///< f32, multiply-adds count two, all threads, the unit that does most
    double bandwidth = 0;        ///< bytes read a second from memory, all threads
    double bandwidth_bytes = 0;  ///< the working set that was read for it; 0: not known
    double barrier_seconds = 0;  ///< one barrier of the context's threads
    double timer_seconds = 0;    ///< the smallest step of the clock
    double cache_bandwidth = 0;  ///< bytes read a second of what was touched just before; 0: not known
    double cache_bytes = 0;      ///< the largest working set that is read markedly faster than memory
    double noise = 0;            ///< relative, of blocks of equal work: their standard deviation
    /// Operations a second of each Unit that the context's features have, all threads; 0: not known.
    std::array<double, unit_count> unit_flops{};
    /// What reading and writing 4 KiB takes a thread more where another has just written them, beside the barrier.
    double cross_core_transfer_seconds = 0;
    /// What a byte takes all threads more to be read and written again where another has just written it, beside that.
    double cross_core_transfer_byte_seconds = 0;
};
/// Measures the machine with the context's threads, in about half a second; the most of that makes the memory that
/// measure() uses too. The read bandwidth is that of a working set which is doubled until the rate no longer falls, up
/// to 1 GiB or a quarter of the free memory: caches of virtual machines are often larger than the system says.
CAIRN_API Calibration calibrate(const Context& context);

}  // namespace cairn::inline v0
