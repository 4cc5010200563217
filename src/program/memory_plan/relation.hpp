#pragma once

#include "program/memory_plan/live_intervals.hpp"

#include <span>
#include <utility>
#include <vector>

namespace cairn::memory_plan {

/// "Lies below" as a graph: `below` holds, for each position of `order`, the buffers directly below the buffer there,
/// from `start[position]` to `start[position + 1]`. Each buffer comes after those below it.
struct Relation {
    std::vector<int> order;
    std::vector<int> start;
    std::vector<int> below;
};

/// Turns a placement into the relation: of two buffers alive together the one at the lower offset lies below. Only
/// neighbours in some tick's stack get an edge, at most two a buffer; the rest follows.
///
///     offsets A 0, B 4, C 6, all alive together  ->  A below B, B below C
class RelationBuilder {
public:
    RelationBuilder(const PackingProblem& problem, const LiveIntervals& intervals);
    /// `relation.order` holds all buffers from the lowest offset up; fills in the rest.
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

/// The relation without the edges that follow from others, and without doubles.
Relation transitive_reduction(const Relation& relation);

/// Offsets and heights at all real samples: what the relation gives, in the layout of `Sizes`.
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
