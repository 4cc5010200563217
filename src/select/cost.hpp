#pragma once

#include "cairn/kernel.hpp"
#include "cairn/timing_db.hpp"
#include "cairn/tuning.hpp"

#include <cstdint>
#include <vector>

/// What a kernel is expected to cost on a problem: measured where a measurement exists, else a roofline estimate. Never
/// unknown, never infinite.
namespace cairn::inline v0::select {

struct Estimate {
    double seconds = 0;        ///< what selection counts with
    double low = 0, high = 0;  ///< it is between these; equal to `seconds` when measured
    bool measured = false;
};

/// Where costs come from; one for a compile.
struct CostSource {
    const TimingDb* timings = nullptr;  ///< none: estimates only
    TimingEnvironment environment;
    TimingPolicy policy;
    Calibration machine;      ///< the roofline
    Isa isa = Isa::baseline;  ///< the level of instructions it is for
    bool optimistic = false;  ///< count unknown times at their lower bounds, so that nothing fast stays unmeasured
};

/// Nominal rates of an instruction set level, for compiles that measure nothing: equal on every machine, so that such
/// compiles are repeatable.
Calibration nominal_machine(Isa isa, int threads);

/// The sizes at which the programs of a bucket are judged: for each symbol the geometric middle of its bounds.
std::vector<std::int64_t> representative_sizes(const Symbols& symbols);

/// Cost of one call at constant sizes. A measurement that was censored or failed counts as its bound, or as ten times
/// the estimate.
Estimate estimate(const Kernel& kernel, const Problem& sized, const CostSource& source);

}  // namespace cairn::inline v0::select
