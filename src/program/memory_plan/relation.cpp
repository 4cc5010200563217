#include "program/memory_plan/relation.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace cairn::memory_plan {

RelationBuilder::RelationBuilder(const PackingProblem& problem, const LiveIntervals& intervals)
    : intervals_(&intervals), by_last_(problem.buffers.size()), rank_(problem.buffers.size()) {
    std::iota(by_last_.begin(), by_last_.end(), 0);
    std::stable_sort(by_last_.begin(), by_last_.end(),
                     [&](int a, int b) { return intervals.last[a] < intervals.last[b]; });
}

void RelationBuilder::build(Relation& relation) {
    for (std::size_t rank = 0; rank < relation.order.size(); ++rank)
        rank_[relation.order[rank]] = static_cast<int>(rank);
    stack_.clear();
    edges_.clear();
    std::size_t expired = 0;
    for (const int b : intervals_->by_first) {
        for (; intervals_->last[by_last_[expired]] < intervals_->first[b]; ++expired) leave(rank_[by_last_[expired]]);
        enter(rank_[b]);
    }
    group_edges(relation);
}

void RelationBuilder::enter(int rank) {
    const auto at = std::lower_bound(stack_.begin(), stack_.end(), rank);
    if (at != stack_.begin()) edges_.emplace_back(*(at - 1), rank);
    if (at != stack_.end()) edges_.emplace_back(rank, *at);
    stack_.insert(at, rank);
}

// The two buffers that become neighbours are ordered through the one that leaves: no edge is needed.
void RelationBuilder::leave(int rank) { stack_.erase(std::lower_bound(stack_.begin(), stack_.end(), rank)); }

void RelationBuilder::group_edges(Relation& relation) {
    relation.start.assign(relation.order.size() + 1, 0);
    for (const auto& [lower, upper] : edges_) ++relation.start[upper + 1];
    std::partial_sum(relation.start.begin(), relation.start.end(), relation.start.begin());
    relation.below.resize(edges_.size());
    std::vector<int>& next = rank_;  // no longer needed
    std::copy(relation.start.begin(), relation.start.end() - 1, next.begin());
    for (const auto& [lower, upper] : edges_) relation.below[next[upper]++] = relation.order[lower];
}

namespace {

constexpr int width = 1024, words = width / 64;

// Bit set of the buffers whose positions are in one block of `width`: reachability is computed block by block, so that
// memory stays linear.

struct Block {
    std::uint64_t bits[words] = {};
    void add(int bit) { bits[bit / 64] |= std::uint64_t{1} << (bit % 64); }
    bool has(int bit) const { return (bits[bit / 64] >> (bit % 64) & 1) != 0; }
    void add(const Block& other) {
        for (int w = 0; w < words; ++w) bits[w] |= other.bits[w];
    }
};

// Marks the edges j -> i for which a longer path from j to i exists, for all j with a position in [from, from +
// width). The last of these edges ends at position `last`.
void mark_implied(const Relation& relation, std::span<const int> position, int from, int last,
                  std::vector<char>& implied) {
    std::vector<Block> below(static_cast<std::size_t>(std::max(last + 1 - from, 0)));  // indexed by position - from
    for (int p = from; p <= last; ++p) {
        Block& mine = below[p - from];
        const std::span<const int> direct(relation.below.data() + relation.start[p],
                                          relation.below.data() + relation.start[p + 1]);
        for (const int lower : direct)
            if (const int q = position[lower] - from; q >= 0) mine.add(below[q]);
        // So far `mine` holds only what is below the direct ones.
        for (std::size_t d = 0; d < direct.size(); ++d)
            if (const int q = position[direct[d]] - from; q >= 0 && q < width && mine.has(q))
                implied[static_cast<std::size_t>(relation.start[p]) + d] = 1;
        for (const int lower : direct)
            if (const int q = position[lower] - from; q >= 0 && q < width) mine.add(q);
    }
}

}  // namespace

Relation transitive_reduction(const Relation& relation) {
    const int n = static_cast<int>(relation.order.size());
    std::vector<int> position(relation.order.size());
    for (int p = 0; p < n; ++p) position[relation.order[p]] = p;
    std::vector<char> implied(relation.below.size(), 0);
    std::vector<int> last(static_cast<std::size_t>(n / width) + 1, -1);  // position of the last edge up from each block
    for (int p = 0; p < n; ++p)
        for (int e = relation.start[p]; e < relation.start[p + 1]; ++e) last[position[relation.below[e]] / width] = p;
    for (int from = 0; from < n; from += width) mark_implied(relation, position, from, last[from / width], implied);

    Relation reduced{relation.order, {0}, {}};
    for (int p = 0; p < n; ++p) {
        const auto begin = reduced.below.end() - reduced.below.begin();
        for (int e = relation.start[p]; e < relation.start[p + 1]; ++e) {
            if (!implied[e]) reduced.below.push_back(relation.below[e]);
        }
        std::sort(reduced.below.begin() + begin, reduced.below.end());
        reduced.below.erase(std::unique(reduced.below.begin() + begin, reduced.below.end()), reduced.below.end());
        reduced.start.push_back(static_cast<int>(reduced.below.size()));
    }
    return reduced;
}

Evaluator::Evaluator(const PackingProblem& problem, const Sizes& sizes)
    : sizes_(&sizes),
      samples_(static_cast<std::size_t>(problem.samples)),
      ends_(problem.buffers.size() * samples_),
      height_(samples_) {
    for (const BufferRequest& buffer : problem.buffers) alignment_.push_back(buffer.alignment);
}

void Evaluator::evaluate(const Relation& relation) {
    std::fill(height_.begin(), height_.end(), 0);
    const std::size_t columns = static_cast<std::size_t>(sizes_->columns);
    for (std::size_t p = 0; p < relation.order.size(); ++p) {
        const auto b = static_cast<std::size_t>(relation.order[p]);
        std::int64_t* const mine = ends_.data() + b * samples_;
        std::fill_n(mine, samples_, 0);
        for (int e = relation.start[p]; e < relation.start[p + 1]; ++e) {
            const std::int64_t* const lower = ends_.data() + static_cast<std::size_t>(relation.below[e]) * samples_;
            for (std::size_t s = 0; s < samples_; ++s) mine[s] = std::max(mine[s], lower[s]);
        }
        const std::int64_t* const bytes = sizes_->bytes.data() + b * columns;
        for (std::size_t s = 0; s < samples_; ++s) {
            mine[s] = align_up(mine[s], alignment_[b]) + bytes[s];
            height_[s] = std::max(height_[s], mine[s]);
        }
    }
}

}  // namespace cairn::memory_plan
