#pragma once

#include "autotune/measurement/benchmark.hpp"

#include <functional>
#include <span>

/// What a tune takes times with.
namespace cairn::autotune {

struct Measurer {
    /// Times contestants that do the same (autotune/measurement/benchmark.hpp).
    std::function<autotune::BenchmarkResult(std::span<const autotune::BenchmarkCandidate>,
                                            const autotune::BenchmarkOptions&)>
        benchmark_candidates;
    /// Seconds since some moment, by which the budget is counted.
    std::function<double()> now;
};

/// The kernels of a Context and the wall clock.
Measurer measurer_of(const Context& context);

}  // namespace cairn::autotune
