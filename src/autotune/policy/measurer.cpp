#include "autotune/policy/measurer.hpp"

#include <chrono>

namespace cairn::autotune {

Measurer measurer_of(const Context& context) {
    using Clock = std::chrono::steady_clock;
    return {[&context](std::span<const autotune::BenchmarkCandidate> candidates,
                       const autotune::BenchmarkOptions& options) {
                return autotune::benchmark_candidates(candidates, *context.impl(), options);
            },
            [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }};
}

}  // namespace cairn::autotune
