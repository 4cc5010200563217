#pragma once

#include "program/memory_plan/gap_search.hpp"
#include "program/memory_plan/live_intervals.hpp"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::memory_plan {

/// Places buffers one after another, each into a gap between those that live at the same time.
///
///     sizes 4, 2, 3 alive together, in this order, alignment 1  ->  offsets 0, 4, 6
class Placer {
public:
    Placer(const PackingProblem& problem, const LiveIntervals& intervals, std::stop_token stop = {});

    /// Places all buffers in the given order at the sizes of one column; writes `offsets[buffer]`. Returns how many
    /// neighbours were looked at: the work done, in a unit that does not depend on the machine. Buffers of no bytes get
    /// a place too, never inside another one, so that sorting by offset is a legal "lies below". A stop leaves the rest
    /// without a place.
    std::int64_t place(std::span<const int> order, const Sizes& sizes, int column, GapFit fit);

    /// Where the last call put each buffer.
    std::span<const std::int64_t> offsets() const { return offsets_; }
    /// All buffers from the lowest offset to the highest; of those at one offset the ones without bytes first.
    void list_by_offset(std::vector<int>& order) const { placed_.list(order); }

    /// The buffers that live at the same time as `buffer`.
    std::span<const int> conflicts(int buffer) { return conflicts_.of(buffer); }

private:
    std::int64_t among_neighbours(int buffer, GapSearch gap, const Sizes& sizes, int column);

    const LiveIntervals* intervals_;
    std::stop_token stop_;
    std::vector<std::int64_t> alignment_, offsets_;
    Conflicts conflicts_;
    std::vector<char> done_;
    PlacedBuffers placed_;
    std::vector<PlacedBuffer> neighbours_;  // by offset: the neighbours of one buffer
    std::int64_t work_ = 0;
};

}  // namespace cairn::memory_plan
