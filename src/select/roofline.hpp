#pragma once

#include "cairn/kernel.hpp"
#include "cairn/tuning.hpp"

#include <span>
#include <string>

/// What bounds a call of a kernel on a machine.
namespace cairn::inline v0::select {

/// What a machine can do, at most at a level of instructions.
struct Limits {
    const Calibration& machine;
    Isa isa = Isa::baseline;
    std::span<const DeviceRates> devices = {};  ///< those of other devices
};

/// A call in seconds: what bounds it on its device.
struct Roofline {
    double arithmetic = 0;  ///< at the peak
    double work = 0;        ///< with what the kernel reaches of that, and memory
    double overhead = 0;
    double seconds() const noexcept { return work + overhead; }
};

/// Nominal rates of an instruction set level, for compiles that measure nothing: equal on every machine, so that such
/// compiles are repeatable.
Calibration nominal_machine(Isa isa, int threads);

/// A machine that was measured at one level, as it is taken to be at another: a higher one does more by its nominal
/// rates.
Calibration at_level(Calibration machine, Isa from, Isa to);

/// The same machine, taking so many times as long for everything.
Calibration slowed(Calibration machine, double factor);

/// What a kernel says of its cost at constant sizes; where that is no cost (not a number, negative, endless, or at more
/// than the machine's peak) that of a kernel without one, and `note` tells why.
Cost counted_cost(const Kernel& kernel, const Problem& sized, std::string& note);

/// Arithmetic at the peak of a level, the kernel's as a rule, by its efficiency, or bytes moved, weights from memory
/// and the rest from where the machine reads fastest, whichever is longer. Memory takes a little more for a twin of a
/// level below the one in use, so that the higher one is tried where it bounds both.
Roofline roofline_of(const Kernel& kernel, Isa level, const Problem& sized, const Cost& cost, const Limits& limits);

}  // namespace cairn::inline v0::select
