#pragma once

#include "program/memory_plan/partial_plan.hpp"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::memory_plan {

/// Result of a search below a ceiling: a plan, the proof that there is none, or neither within the given steps.
enum class SearchResult { found, none, cut_off };

/// Depth-first search for a plan of a section below a ceiling.
///
/// A plan is canonical if no buffer fits into a lower gap. Where there is a plan below the ceiling there is a canonical
/// one, and placing its buffers in order of offset, then of number, puts each at the lowest offset above the placed
/// ones that are live together with it. Of the unplaced buffers those at the lowest offset are tried first, by
/// priority. Not tried is a buffer
///
/// * that comes before the last one in that order;
/// * below which an unplaced one fits as a whole, which could then be moved there (dominance);
/// * while an equal buffer of lower number is unplaced (symmetry).
///
/// If all unplaced buffers of a range of ticks have the same lowest offset, one that is live in the whole range is
/// placed without an alternative: it can change places with all that is below it (only where all alignments are equal).
///
/// A range of ticks is split where no unplaced buffer crosses, and its parts are searched apart: if one has no plan,
/// the search returns to the buffer that split them. Parts without a plan are remembered by the lowest offsets of their
/// unplaced buffers.
///
/// Ideas: Moffitt, "MiniMalloc", ASPLOS 2023 (canonical placements, dominance, sections).
class CanonicalSearch {
public:
    /// `priority` holds the number of each buffer of the section once.
    CanonicalSearch(const Section& section, std::span<const int> priority);

    SearchResult run(std::int64_t ceiling, std::int64_t steps, const std::stop_token& stop = {});
    /// The buffers of the section in order of offset, after `found`.
    std::vector<int> order() const { return plan_.order(); }
    std::int64_t steps() const noexcept { return steps_ + plan_.steps(); }

private:
    /// A range of ticks to be searched: an element of a linked list.
    struct Task {
        int from, to;            // ticks, both included
        std::size_t begin, end;  // its unplaced buffers in `buffers_`
        int last;                // the buffer placed last, in a range that contains this one; -1: none
        int parent;              // the node whose buffer split this range off
        int next;                // the task to search after it; -1: none
    };
    /// A node of the search tree: a task and the buffer tried in it.
    struct Node {
        Task task;
        std::size_t tasks, buffers;  // sizes of `tasks_` and `buffers_` without those of later nodes
        int placed;                  // number of buffers placed before
        std::int64_t limit;          // buffers at this offset and above are dominated
        int spanning;                // the only buffer to try; -1: none
        int tried;                   // the last buffer tried; -1: none
        std::uint64_t key;           // of the task and its lowest offsets
    };
    /// A range without a plan.
    struct Failed {
        std::uint64_t key = 0;
        std::int64_t offset = 0;  // of the buffer placed last
        int last = 0;
    };

    void open(const Task& task);
    int next_buffer(Node& node);
    bool may_come_next(const Node& node, int buffer) const;
    bool comes_before(int a, int b) const;
    bool has_failed(const Node& node) const;
    void fail();
    int split(const Task& task, int parent, int last);
    int number_parts(const Task& task);
    std::span<const int> buffers_of(const Task& task) const {
        return std::span(buffers_).subspan(task.begin, task.end - task.begin);
    }

    PartialPlan plan_;
    int ticks_;
    bool has_one_alignment_;
    std::int64_t steps_ = 0;
    std::vector<int> buffers_;  // those of each task in order of number
    std::vector<Task> tasks_;
    std::vector<Node> nodes_;
    std::vector<Failed> failed_;
    std::vector<int> part_;           // scratch of split(): the part of each tick
    std::vector<std::size_t> start_;  // ... of each part in `buffers_`
};

}  // namespace cairn::memory_plan
