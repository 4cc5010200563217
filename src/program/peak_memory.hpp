#pragma once

#include "program/maximum.hpp"
#include "program/program.hpp"

#include <vector>

/// Declares the peak memory of a planned program over all legal sizes.
namespace cairn::program {

/// Peak size of a program's arena on one device, and the symbol values at which it occurs.
struct PeakMemory {
    std::int64_t bytes = 0;        ///< upper bound of the arena's size
    std::int64_t found = 0;        ///< arena size at `at`; equal to `bytes` unless the search was cut short
    std::vector<std::int64_t> at;  ///< symbol values, in the order of Symbols::list()

    bool is_exact() const noexcept { return bytes == found; }
};

/// Maximum size of a device's arena over all symbol values within their bounds at which every state fits its capacity:
/// the longest path through the frozen order, maximised. `boxes` limits the branch and bound.
///
///     two storages live together, 4000*N and 4000*(100 - N) + 8*N bytes, N in 1..100     ->     400832 at N = 100
PeakMemory peak_memory_of(const Program& program, Device device, int boxes = 2048);
/// The same for a plan of one device alone (plan_of).
PeakMemory peak_memory_of(const Program& program, const MemoryPlan& plan, int boxes = 2048);

/// Constraints on a run's symbol values, each to be <= 0: a state's length after the run minus its capacity.
std::vector<Polynomial> limits_of(const Program& program);

}  // namespace cairn::program
