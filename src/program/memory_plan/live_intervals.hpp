#pragma once

#include "program/memory_plan/packing_problem.hpp"

#include <span>
#include <vector>

namespace cairn::memory_plan {

/// Live intervals of buffers on a compressed clock whose ticks are the instructions at which some buffer starts. Two
/// intervals overlap exactly if they share a tick, because the later start of the two is in both.
///
///     intervals [10,20] [15,15] [30,90]  ->  [0,1] [1,1] [2,2]
struct LiveIntervals {
    std::vector<int> first, last;  ///< per buffer, ticks, both included
    std::vector<int> by_first;     ///< buffers by first tick, then index
    int ticks = 0;

    explicit LiveIntervals(const PackingProblem& problem);
    int count() const noexcept { return static_cast<int>(first.size()); }
    bool overlap(int a, int b) const noexcept { return first[a] <= last[b] && first[b] <= last[a]; }
};

/// Sizes of all buffers, the samples of a buffer contiguous: `at(buffer, column)`. Column `samples` is a blend of all
/// samples, each weighted by the inverse of its lower bound: an artificial size that represents them all.
struct Sizes {
    int columns = 0;
    std::vector<std::int64_t> bytes;
    std::int64_t at(int buffer, int column) const noexcept {
        return bytes[static_cast<std::size_t>(buffer) * static_cast<std::size_t>(columns) +
                     static_cast<std::size_t>(column)];
    }
};

/// The sizes of `problem` and their blend.
Sizes sizes_of(const PackingProblem& problem, std::span<const std::int64_t> lower_bound);

/// Lower bound of any plan's height, per sample; see PackingSolution::lower_bound.
std::vector<std::int64_t> lower_bounds(const PackingProblem& problem, const LiveIntervals& intervals);

/// Live bytes per tick, for one column.
std::vector<std::int64_t> live_bytes(const LiveIntervals& intervals, const Sizes& sizes, int column);

/// Interference between buffers: which ones are live at the same time.
class Conflicts {
public:
    explicit Conflicts(const LiveIntervals& intervals);
    /// The buffers that overlap `buffer`, in the order of `LiveIntervals::by_first`. Valid until the next call. The
    /// results for all buffers are stored if they are few, else computed on demand, in time that grows with their
    /// number.
    std::span<const int> of(int buffer);
    /// Number of buffers that of() returns.
    std::size_t count(int buffer) const noexcept;

private:
    void find(int buffer, std::vector<int>& others) const;

    const LiveIntervals* intervals_;
    std::vector<int> begun_, ended_;  // per tick: number of intervals that begin, or end, before it
    std::size_t leaves_ = 1;          // leaves of the tree `last_`, a power of two
    std::vector<int> last_;           // tree of maxima over the last ticks of the buffers in `by_first`
    std::vector<std::size_t> start_;  // start of each buffer's list in `others_`, if all are stored
    std::vector<int> others_;
};

}  // namespace cairn::memory_plan
