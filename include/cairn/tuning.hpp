#pragma once

#include "cairn/context.hpp"
#include "cairn/timing_db.hpp"

#include <array>
#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// Limits of one measurement.
struct MeasureOptions {
    int blocks = 9;             ///< number of blocks timed; their median counts
    double max_seconds = 0.25;  ///< limit for all timed runs together, warm-up included
    bool cold = true;           ///< read weights from memory, not from a cache
    std::stop_token stop = {};  ///< checked between blocks
};

/// Times one kernel on a Problem of constant sizes on its device, as a program would run it, on the CPU with the
/// Context's threads: one untimed run, then blocks that grow until the clock resolution suffices. Operands hold seeded
/// normal numbers and legal indices; booleans are masks of padded rows, the last quarter masked. If `cold`, successive
/// calls read weights, and large parts of states, from advancing positions in a buffer larger than the last-level
/// cache, up to 256 MB, which the Context keeps for the next measurement; other operands stay where the previous call
/// left them. Operands of a kernel for another device are in its memory, its time is that of the device's own clock,
/// and the compilation of its code is not part of it. A kernel whose first run takes all of the time is not run again:
/// the Timing is `censored` at that time. Throws Error(argument) if the kernel is unknown or refuses the problem, an
/// Error that names the kernel for any exception of it, and Cancelled on stop. Stores nothing.
CAIRN_API Timing measure(const Problem& problem, std::string_view kernel, const Context& context,
                         const MeasureOptions& options = {});

/// The environment of a time measured now with this Context on the CPU, as the timing database records and looks it
/// up.
CAIRN_API TimingEnvironment timing_environment(const Context& context);
/// The same of a kernel of another device: it names the device, its driver and compiler, not the CPU. Throws
/// Error(argument) for a device that the Context does not have.
CAIRN_API TimingEnvironment timing_environment(const Context& context, Device device);
/// All environments of times measured now with this Context: that of the CPU first, then for each other device those of
/// its kernels and of copies between it and the host, then that of programs that use all of them.
CAIRN_API std::vector<TimingEnvironment> timing_environments(const Context& context);

/// Measured rates of a machine: the roofline from which times are estimated.
struct Calibration {
    double flops = 0;            ///< FLOP/s in f32, a multiply-add counts as two; all threads, fastest unit
    double bandwidth = 0;        ///< bytes/s read from memory, all threads
    double bandwidth_bytes = 0;  ///< working set of that measurement; 0: unknown
    double barrier_seconds = 0;  ///< one barrier of the Context's threads
    double timer_seconds = 0;    ///< clock resolution
    double cache_bandwidth = 0;  ///< bytes/s read of recently touched data; 0: unknown
    double cache_bytes = 0;      ///< largest working set that is read markedly faster than memory
    double noise = 0;            ///< relative standard deviation of blocks of equal work
    /// Operations/s of each Unit that the Context's features include, all threads; 0: unknown.
    std::array<double, unit_count> unit_flops{};
    /// Extra time for one thread to read and write 4 KiB that another has just written, in addition to the barrier.
    double cross_core_transfer_seconds = 0;
    /// Extra time per byte, of all threads together, to read and rewrite data that another thread has just written; is
    /// added to cross_core_transfer_seconds.
    double cross_core_transfer_byte_seconds = 0;
};
/// Measures the machine with the Context's threads, in about half a second; most of it creates the memory that
/// measure() uses too. For the read bandwidth the working set is doubled until the rate no longer falls, up to 1 GiB or
/// a quarter of the free memory: caches of virtual machines are often larger than the system reports.
CAIRN_API Calibration calibrate(const Context& context);

/// Where the rates of a device come from.
enum class RateSource : std::uint8_t {
    stated,   ///< by the program, in ContextOptions::extra
    nominal,  ///< from properties of the device and usual costs; until it is measured
    measured  ///< by a calibration, now or stored in the timing database
};
/// The enumerator's name.
CAIRN_API std::string_view to_string(RateSource source) noexcept;

/// Rates from which times on a device are estimated, and where they come from.
struct KnownRates {
    DeviceRates rates;                        ///< of the device
    RateSource source = RateSource::nominal;  ///< of these rates
};
/// The rates of a device other than the CPU that a compile uses which measures nothing. Throws Error(argument) for a
/// device that the Context does not have.
CAIRN_API KnownRates device_rates(const Context& context, Device device);

/// Measures a device other than the CPU in about half a second: the rates at which its kernels read memory and cache
/// and compute, the time of a launch, and of copies to and from the host. Nothing is stored: a compile that measures
/// does that. Throws Error(argument) for a device that the Context does not have, Error(unsupported) for one that is
/// simulated or takes too long, and what the device throws.
CAIRN_API DeviceRates calibrate(const Context& context, Device device);

}  // namespace cairn::inline v0
