#pragma once

#include "program/memory_plan/gap_search.hpp"
#include "program/memory_plan/live_intervals.hpp"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::memory_plan {

/// Greedy placement: places buffers one after another, each into a gap between those live at the same time.
///
///     sizes 4, 2, 3 live together, in this order, alignment 1  ->  offsets 0, 4, 6
class Placer {
public:
    Placer(const PackingProblem& problem, const LiveIntervals& intervals, std::stop_token stop = {});

    /// Places all buffers in the given order at the sizes of one column; writes `offsets[buffer]`. Returns the number
    /// of neighbours examined: the work done, in a machine-independent unit. Buffers of no bytes get an offset too,
    /// never inside another buffer, so that sorting by offset is a legal "lies below". A stop leaves the rest unplaced.
    std::int64_t place(std::span<const int> order, const Sizes& sizes, int column, GapFit fit);

    /// The offsets of the last place().
    std::span<const std::int64_t> offsets() const { return offsets_; }
    /// All buffers in ascending order of offset; at equal offsets those without bytes first.
    void list_by_offset(std::vector<int>& order) const { placed_.list(order); }

    /// The buffers live at the same time as `buffer`.
    std::span<const int> conflicts(int buffer) { return conflicts_.of(buffer); }

private:
    std::int64_t find_among_neighbours(int buffer, GapSearch gap, const Sizes& sizes, int column);

    const LiveIntervals* intervals_;
    std::stop_token stop_;
    std::vector<std::int64_t> alignment_, offsets_;
    Conflicts conflicts_;
    std::vector<char> done_;
    PlacedBuffers placed_;
    std::vector<PlacedBuffer> neighbours_;  // scratch: the neighbours of one buffer, by offset
    std::int64_t work_ = 0;
};

}  // namespace cairn::memory_plan
