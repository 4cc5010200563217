#pragma once

#include "cairn/context.hpp"
#include "cairn/timing_db.hpp"

#include <stop_token>

namespace cairn::inline v0 {

/// Limits of one measurement.
struct MeasureOptions {
    int blocks = 9;             ///< blocks timed, of which the median counts
    double max_seconds = 0.25;  ///< wall clock for one measurement, warm-up included
    bool cold = true;
    std::stop_token stop = {};
};

/// Times one kernel on a Problem of constant sizes with the Context's threads, the way a program would run it: operands
/// filled with seeded normal data (indices legal), rotated through memory when cold, one untimed run first, then blocks
/// grown until the clock is fine enough. Throws Error(argument) when the kernel is unknown or refuses the problem,
/// and an Error that names the kernel for whatever it throws; Cancelled on stop. Stores nothing.
CAIRN_API Timing measure(const Problem& problem, std::string_view kernel, const Context& context,
                         const MeasureOptions& options = {});

/// What a time measured now with the context belongs to: what the timing database keeps beside it, and asks for.
CAIRN_API TimingEnvironment timing_environment(const Context& context);

/// What this machine can do, measured now in about a tenth of a second: the roofline that estimates stand on.
struct Calibration {
    double flops = 0;            ///< f32 multiply-adds count two, all threads of the context
    double bandwidth = 0;        ///< bytes read a second from memory, all threads
    double barrier_seconds = 0;  ///< one barrier of the context's threads
    double timer_seconds = 0;    ///< the smallest step of the clock
};
/// Measures the machine with the context's threads.
CAIRN_API Calibration calibrate(const Context& context);

}  // namespace cairn::inline v0
