#include "plan/place.hpp"

#include <algorithm>
#include <utility>

namespace cairn::plan {
namespace {

// Collecting and sorting one neighbour costs about as much as passing over this many buffers that lie in order already.
constexpr std::size_t sorting_cost = 8;

}  // namespace

Placer::Placer(const Problem& problem, const Lives& lives, std::stop_token stop)
    : lives_(&lives), stop_(std::move(stop)), offsets_(problem.buffers.size()), conflicts_(lives) {
    for (const Buffer& buffer : problem.buffers) alignment_.push_back(buffer.alignment);
}

std::int64_t Placer::place(std::span<const int> order, const Sizes& sizes, int column, Fit fit) {
    work_ = 0;
    shelf_.clear();
    done_.assign(offsets_.size(), 0);
    for (const int b : order) {
        if (stop_.stop_requested()) break;
        const int first = lives_->first[b], last = lives_->last[b];
        const Gap gap(sizes.at(b, column), alignment_[b], fit);
        work_ += 1;
        const bool few = conflicts_.count(b) < shelf_.size() / sorting_cost;
        offsets_[b] = few ? among_neighbours(b, gap, sizes, column) : shelf_.find(gap, first, last, work_);
        done_[b] = 1;
        shelf_.insert({offsets_[b], offsets_[b] + gap.bytes(), first, last, b});
    }
    return work_;
}

std::int64_t Placer::among_neighbours(int buffer, Gap gap, const Sizes& sizes, int column) {
    near_.clear();
    const std::span<const int> others = conflicts_.of(buffer);
    for (const int other : others) {
        if (!done_[other]) continue;
        const std::int64_t end = offsets_[other] + sizes.at(other, column);
        near_.push_back({offsets_[other], end, lives_->first[other], lives_->last[other], other});
    }
    std::sort(near_.begin(), near_.end());
    work_ += static_cast<std::int64_t>(others.size() * sorting_cost);
    for (const Placed& other : near_) {
        work_ += 1;
        if (gap.pass(other.offset, other.end)) break;
    }
    return gap.place();
}

}  // namespace cairn::plan
