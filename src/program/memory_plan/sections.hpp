#pragma once

#include "program/memory_plan/live_intervals.hpp"

#include <cstdint>
#include <vector>

namespace cairn::memory_plan {

/// Some buffers of a problem at one column of sizes, in numbers of their own: all that the search below a ceiling
/// needs.
struct Section {
    std::vector<int> buffers;         ///< of the problem; those without bytes are left out
    std::int64_t unit = 1;            ///< the smallest alignment
    bool has_one_alignment = true;    ///< all alignments are equal
    std::vector<std::int64_t> bytes;  ///< rounded up to the unit
    std::vector<std::int64_t> alignment;
    /// Live intervals in ticks, both included. Ticks are the instructions at which a buffer ends: the buffers that are
    /// live at any other instruction are all live at one of these.
    std::vector<int> first, last;
    int ticks = 0;
    std::int64_t lower_bound = 0;  ///< of the height of any plan: the largest sum of live bytes

    int count() const noexcept { return static_cast<int>(buffers.size()); }
};

/// The section of these buffers.
Section section_of(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes, int column,
                   const std::vector<int>& buffers);

/// Cuts the problem at the times that no buffer with bytes crosses, in order of time: each section can be placed
/// without regard to the others.
///
///     live intervals [0,2] [1,3] [4,6] [5,5]  ->  two sections of two buffers
std::vector<Section> sections_of(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes,
                                 int column);

}  // namespace cairn::memory_plan
