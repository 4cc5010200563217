#include "program/memory_plan/placer.hpp"

#include <algorithm>
#include <utility>

namespace cairn::memory_plan {
namespace {

// Collecting and sorting one neighbour costs about as much as scanning this many buffers that are already in order.
constexpr std::size_t sorting_cost = 8;

}  // namespace

Placer::Placer(const PackingProblem& problem, const LiveIntervals& intervals, std::stop_token stop)
    : intervals_(&intervals), stop_(std::move(stop)), offsets_(problem.buffers.size()), conflicts_(intervals) {
    for (const BufferRequest& buffer : problem.buffers) alignment_.push_back(buffer.alignment);
}

std::int64_t Placer::place(std::span<const int> order, const Sizes& sizes, int column, GapFit fit) {
    work_ = 0;
    placed_.clear();
    done_.assign(offsets_.size(), 0);
    for (const int b : order) {
        if (stop_.stop_requested()) break;
        const int first = intervals_->first[b], last = intervals_->last[b];
        const GapSearch gap(sizes.at(b, column), alignment_[b], fit);
        work_ += 1;
        const bool few = conflicts_.count(b) < placed_.size() / sorting_cost;
        offsets_[b] = few ? find_among_neighbours(b, gap, sizes, column) : placed_.find(gap, first, last, work_);
        done_[b] = 1;
        placed_.insert({offsets_[b], offsets_[b] + gap.bytes(), first, last, b});
    }
    return work_;
}

std::int64_t Placer::find_among_neighbours(int buffer, GapSearch gap, const Sizes& sizes, int column) {
    neighbours_.clear();
    const std::span<const int> others = conflicts_.of(buffer);
    for (const int other : others) {
        if (!done_[other]) continue;
        const std::int64_t end = offsets_[other] + sizes.at(other, column);
        neighbours_.push_back({offsets_[other], end, intervals_->first[other], intervals_->last[other], other});
    }
    std::sort(neighbours_.begin(), neighbours_.end());
    work_ += static_cast<std::int64_t>(others.size() * sorting_cost);
    for (const PlacedBuffer& other : neighbours_) {
        work_ += 1;
        if (gap.pass(other.offset, other.end)) break;
    }
    return gap.place();
}

}  // namespace cairn::memory_plan
