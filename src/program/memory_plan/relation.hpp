#pragma once

#include "program/memory_plan/live_intervals.hpp"

#include <span>
#include <utility>
#include <vector>

namespace cairn::memory_plan {

/// The relation "lies below" as a graph in CSR form: the buffers directly below the one at `order[position]` are in
/// `below` from `start[position]` to `start[position + 1]`. Each buffer comes after those below it.
struct Relation {
    std::vector<int> order;
    std::vector<int> start;
    std::vector<int> below;
};

/// Converts a placement into the relation: of two buffers live together the one at the lower offset lies below. Only
/// neighbours in some tick's stack get an edge, at most two per buffer; the rest follows by transitivity.
///
///     offsets A 0, B 4, C 6, all live together  ->  A below B, B below C
class RelationBuilder {
public:
    RelationBuilder(const PackingProblem& problem, const LiveIntervals& intervals);
    /// Fills in `start` and `below`. Requires `relation.order` to hold all buffers in ascending order of offset.
    void build(Relation& relation);

private:
    void enter(int rank);
    void leave(int rank);
    void group_edges(Relation& relation);

    const LiveIntervals* intervals_;
    std::vector<int> by_last_;
    std::vector<int> rank_, stack_;
    std::vector<std::pair<int, int>> edges_;  // (lower rank, upper rank)
};

/// The relation without edges that follow by transitivity, and without duplicates.
Relation transitive_reduction(const Relation& relation);

/// Evaluates the offsets and heights of a relation at all real samples, in the layout of `Sizes`.
class Evaluator {
public:
    Evaluator(const PackingProblem& problem, const Sizes& sizes);
    void evaluate(const Relation& relation);

    std::int64_t offset(int buffer, int sample) const { return end(buffer, sample) - sizes_->at(buffer, sample); }
    std::int64_t end(int buffer, int sample) const {
        return ends_[static_cast<std::size_t>(buffer) * samples_ + static_cast<std::size_t>(sample)];
    }
    std::span<const std::int64_t> height() const { return height_; }

private:
    const Sizes* sizes_;
    std::size_t samples_;
    std::vector<std::int64_t> alignment_, ends_, height_;
};

}  // namespace cairn::memory_plan
