#pragma once

#include "cairn/kernel.hpp"
#include "cairn/tuning.hpp"

#include <span>
#include <string>

/// What bounds a call of a kernel on a machine.
namespace cairn::selection {

/// What a machine can do with some features.
struct Limits {
    const Calibration& machine;
    FeatureSet features;
    std::span<const DeviceRates> devices = {};  ///< those of other devices
};

/// A call in seconds: what bounds it on its device.
struct Roofline {
    double arithmetic = 0;  ///< at the peak
    double work = 0;        ///< with what the kernel reaches of that, and memory
    double overhead = 0;
    double seconds() const noexcept { return work + overhead; }
};

/// Nominal rates of a set of features, for compiles that measure nothing: equal on every machine, so that such
/// compiles are repeatable.
Calibration nominal_machine(FeatureSet features, int threads);

/// A machine that was measured with some features, as it is taken to be with others: units that were not measured do
/// as much as they do by their nominal rates.
Calibration with_features(Calibration machine, FeatureSet from, FeatureSet to);

/// The same machine, taking so many times as long for everything.
Calibration slowed(Calibration machine, double factor);

/// What a kernel says of its cost at constant sizes; where that is no cost (not a number, negative, endless, at more
/// than the machine's peak, or of arithmetic that needs more than the kernel does) that of a kernel without one, and
/// `note` tells why.
Cost validated_cost(const Kernel& kernel, const Problem& sized, std::string& note);

/// Arithmetic at the peak of the unit that code with these needs has for it, the kernel's as a rule, by its efficiency,
/// or bytes moved, weights from memory and the rest from where the machine reads fastest, whichever is longer. Memory
/// takes a little more for a twin of narrower vectors than those in use, so that the wider one is tried where it bounds
/// both.
Roofline roofline_of(const Kernel& kernel, FeatureSet needs, const Problem& sized, const Cost& cost,
                     const Limits& limits);

/// What a call of the CPU takes more in a program than again and again by itself: its operands lie in the caches of
/// whichever thread wrote them, as a rule another.
double cross_core_transfer_seconds(const Problem& sized, const Calibration& machine, int threads);

}  // namespace cairn::selection
