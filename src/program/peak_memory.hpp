#pragma once

#include "program/maximum.hpp"
#include "program/program.hpp"

#include <vector>

/// The most memory a planned program takes at any sizes it may be run at.
namespace cairn::program {

struct PeakMemory {
    std::int64_t bytes = 0;        ///< of the arena: no sizes take more
    std::int64_t found = 0;        ///< taken at `at`; equal to `bytes` unless the search for it was cut short
    std::vector<std::int64_t> at;  ///< symbol values, in the order of Symbols::list()

    bool is_exact() const noexcept { return bytes == found; }
};

/// The largest arena over all symbol values within their bounds at which every state has room: the longest path through
/// the frozen order, maximised. `boxes` limits the work.
///
///     two storages alive together, 4000*N and 4000*(100 - N) + 8*N bytes, N in 1..100     ->     400832 at N = 100
PeakMemory peak_memory_of(const Program& program, int boxes = 2048);

/// What a run's symbol values must not exceed: for each state its length after the run less its capacity.
std::vector<Polynomial> limits_of(const Program& program);

}  // namespace cairn::program
