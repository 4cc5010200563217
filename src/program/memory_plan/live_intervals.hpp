#pragma once

#include "program/memory_plan/packing_problem.hpp"

#include <span>
#include <vector>

namespace cairn::memory_plan {

/// Lives on a dense clock whose ticks are the instructions at which some buffer starts. Two lives overlap exactly when
/// they share a tick, because the later start of the two lies in both.
///
///     lives [10,20] [15,15] [30,90]  ->  [0,1] [1,1] [2,2]
struct LiveIntervals {
    std::vector<int> first, last;  ///< per buffer, ticks, both included
    std::vector<int> by_first;     ///< buffers by first tick, then index
    int ticks = 0;

    explicit LiveIntervals(const PackingProblem& problem);
    int count() const noexcept { return static_cast<int>(first.size()); }
    bool overlap(int a, int b) const noexcept { return first[a] <= last[b] && first[b] <= last[a]; }
};

/// Sizes with the samples of a buffer side by side: `at(buffer, column)`. Column `samples` is a blend of all others,
/// each weighed by the inverse of its lower bound: an imaginary size that counts for all of them.
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

/// Per sample the bytes that no plan can undercut; see PackingSolution::lower_bound.
std::vector<std::int64_t> lower_bounds(const PackingProblem& problem, const LiveIntervals& intervals);

/// Per tick the bytes alive, for one column.
std::vector<std::int64_t> live_bytes(const LiveIntervals& intervals, const Sizes& sizes, int column);

/// Which buffers live at the same time as a given one.
class Conflicts {
public:
    explicit Conflicts(const LiveIntervals& intervals);
    /// The buffers that overlap `buffer`, in the order of `LiveIntervals::by_first`. Valid until the next call. Those
    /// of all buffers are kept where they are few, else found when asked for: in time by how many they are.
    std::span<const int> of(int buffer);
    /// How many of() gives.
    std::size_t count(int buffer) const noexcept;

private:
    void find(int buffer, std::vector<int>& others) const;

    const LiveIntervals* intervals_;
    std::vector<int> begun_, ended_;  // per tick: how many lives begin, or end, before it
    std::size_t leaves_ = 1;          // of the tree below, a power of two
    std::vector<int> last_;           // a heap of maxima over the last ticks of the buffers in `by_first`
    std::vector<std::size_t> start_;  // of each buffer in `others_`, where all are kept
    std::vector<int> others_;
};

}  // namespace cairn::memory_plan
