#pragma once

#include "autotune/measurement/benchmark.hpp"

#include <functional>
#include <span>

/// Interface through which a tuner measures; tests replace it.
namespace cairn::autotune {

struct Measurer {
    /// Times candidates that compute the same value (autotune/measurement/benchmark.hpp).
    std::function<autotune::BenchmarkResult(std::span<const autotune::BenchmarkCandidate>,
                                            const autotune::BenchmarkOptions&)>
        benchmark_candidates;
    /// Seconds since a fixed moment; the clock of the budget.
    std::function<double()> now;
};

/// A Measurer with the kernels of a Context and the wall clock.
Measurer measurer_of(const Context& context);

}  // namespace cairn::autotune
