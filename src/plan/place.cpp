#include "plan/place.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cairn::plan {
namespace {

// Collecting and sorting one neighbour costs about as much as passing over this many buffers that lie in order already.
constexpr std::size_t sorting_cost = 8;

}  // namespace

Placer::Placer(const Problem& problem, const Lives& lives, std::stop_token stop)
    : lives_(&lives), stop_(std::move(stop)), offsets_(problem.buffers.size()), conflicts_(lives, stop_) {
    for (const Buffer& buffer : problem.buffers) alignment_.push_back(buffer.alignment);
}

std::int64_t Placer::place(std::span<const int> order, const Sizes& sizes, int column, Fit fit) {
    work_ = 0;
    all_.clear();
    done_.assign(offsets_.size(), 0);
    for (const int b : order) {
        if (stop_.stop_requested()) break;
        Placed placed{0, sizes.at(b, column), lives_->first[b], lives_->last[b], b};
        if (const std::size_t others = conflicts_.known(b); others < all_.size() / sorting_cost) {
            near_.clear();
            for (const int other : conflicts_.of(b)) {
                if (!done_[other]) continue;
                const std::int64_t end = offsets_[other] + sizes.at(other, column);
                near_.push_back({offsets_[other], end, lives_->first[other], lives_->last[other], other});
            }
            std::sort(near_.begin(), near_.end());
            work_ += static_cast<std::int64_t>(others * sorting_cost);
            placed.offset = gap(near_, placed, alignment_[b], fit);
        } else {
            placed.offset = gap(all_, placed, alignment_[b], fit);
        }
        offsets_[b] = placed.offset;
        placed.end += placed.offset;
        done_[b] = 1;
        all_.insert(std::upper_bound(all_.begin(), all_.end(), placed), placed);
    }
    return work_;
}

void Placer::stacked(std::vector<int>& order) const {
    order.clear();
    for (const Placed& placed : all_) order.push_back(placed.buffer);
}

// `buffer` has its size in `end`. Passes over `placed`, which is in order, and over those in it that live at another
// time.
std::int64_t Placer::gap(const std::vector<Placed>& placed, const Placed& buffer, std::int64_t alignment, Fit fit) {
    const std::int64_t bytes = buffer.end;
    std::int64_t end = 0, best = -1, least_waste = std::numeric_limits<std::int64_t>::max();
    work_ += 1;
    for (const Placed& other : placed) {
        work_ += 1;
        if (other.last < buffer.first || buffer.last < other.first) continue;
        const std::int64_t offset = align_up(end, alignment);
        if (offset + bytes <= other.offset) {
            if (fit == Fit::first) return offset;
            if (const std::int64_t waste = other.offset - end - bytes; waste < least_waste) {
                least_waste = waste;
                best = offset;
            }
        }
        end = std::max(end, other.end);
    }
    return best >= 0 ? best : align_up(end, alignment);
}

}  // namespace cairn::plan
