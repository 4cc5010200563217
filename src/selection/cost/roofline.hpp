#pragma once

#include "cairn/kernel.hpp"
#include "cairn/tuning.hpp"

#include <span>
#include <string>

/// Roofline model: the lower bound of a call's time by arithmetic and by bytes.
namespace cairn::selection {

/// The limits of a machine with some features.
struct Limits {
    const Calibration& machine;
    FeatureSet features;
    std::span<const DeviceRates> devices = {};  ///< rates of other devices
};

/// The roofline of a call on its device, in seconds.
struct Roofline {
    double arithmetic = 0;  ///< at the peak rate
    double memory = 0;      ///< at the rates of memory and caches
    double work = 0;        ///< the longer of arithmetic at the kernel's efficiency and memory, and the steps of a device
    double overhead = 0;
    double seconds() const noexcept { return work + overhead; }
};

/// Nominal rates of a set of features, for compiles without measurements: equal on every machine, so that such compiles
/// are repeatable.
Calibration nominal_machine(FeatureSet features, int threads);

/// A machine calibrated with the features `from`, as assumed with the features `to`: the rates of units that were not
/// measured follow from their nominal ratios.
Calibration with_features(Calibration machine, FeatureSet from, FeatureSet to);

/// The same machine with all times multiplied by `factor`.
Calibration slowed(Calibration machine, double factor);

/// The kernel's own cost at constant sizes. If that is invalid (not a number, negative, infinite, efficiency above 1,
/// or arithmetic for which the kernel's needs have no unit), the default cost, and `note` says why.
Cost validated_cost(const Kernel& kernel, const Problem& sized, std::string& note);

/// The maximum of arithmetic and memory time. Arithmetic runs at the kernel's efficiency of the peak of the unit that
/// code with these needs has (usually the kernel's own). Weights come from memory, other bytes from the level with the
/// highest bandwidth. Memory time is slightly larger for an ISA variant with narrower vectors than those in use, so
/// that the wider one is tried first if memory bounds both.
Roofline roofline_of(const Kernel& kernel, FeatureSet needs, const Problem& sized, const Cost& cost,
                     const Limits& limits);

/// Cross-core transfer: additional time of a CPU call in a program against repeated calls alone. Its operands lie in
/// the caches of the thread that wrote them, usually another one.
double cross_core_transfer_seconds(const Problem& sized, const Calibration& machine, int threads);

}  // namespace cairn::selection
