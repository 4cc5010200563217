#include "program/memory_plan/canonical_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace cairn::memory_plan {
namespace {

constexpr int none = -1;

// Number of ranges without a plan that are remembered.
constexpr std::size_t remembered = 4096;

// The finalizer of SplitMix64.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

CanonicalSearch::CanonicalSearch(const Section& section, std::span<const int> priority)
    : plan_(section, priority), ticks_(section.ticks), has_one_alignment_(section.has_one_alignment) {}

SearchResult CanonicalSearch::run(std::int64_t ceiling, std::int64_t steps, const std::stop_token& stop) {
    const std::int64_t end = this->steps() + steps;
    if (!plan_.start(ceiling)) return SearchResult::none;
    if (plan_.count() == 0) return SearchResult::found;
    nodes_.clear();
    tasks_.clear();
    failed_.assign(remembered, {});
    buffers_.resize(static_cast<std::size_t>(plan_.count()));
    std::iota(buffers_.begin(), buffers_.end(), 0);
    open(tasks_[split({0, ticks_ - 1, 0, buffers_.size(), none, none, none}, none, none)]);
    while (!nodes_.empty()) {
        if (this->steps() >= end || stop.stop_requested()) return SearchResult::cut_off;
        Node& node = nodes_.back();
        while (plan_.placed() > node.placed) plan_.undo();
        const int buffer = next_buffer(node);
        if (buffer == none) {
            fail();
            continue;
        }
        const Task task = node.task;
        if (!plan_.place(buffer, {task.from, task.to, buffers_of(task)})) continue;
        tasks_.resize(node.tasks);
        buffers_.resize(node.buffers);
        const int next = split(task, static_cast<int>(nodes_.size()) - 1, buffer);
        if (next == none) return SearchResult::found;
        open(tasks_[next]);
    }
    return SearchResult::none;
}

void CanonicalSearch::open(const Task& task) {
    Node node{
        task, tasks_.size(), buffers_.size(), plan_.placed(), std::numeric_limits<std::int64_t>::max(), none, none, 0};
    std::int64_t lowest = node.limit, highest = 0;
    int spanning = none;
    for (const int b : buffers_of(task)) {
        node.limit = std::min(node.limit, plan_.end(b));
        lowest = std::min(lowest, plan_.offset(b));
        highest = std::max(highest, plan_.offset(b));
        node.key +=
            mixed(static_cast<std::uint64_t>(plan_.offset(b)) * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(b));
        if (spanning == none && plan_.first(b) == task.from && plan_.last(b) == task.to) spanning = b;
    }
    steps_ += static_cast<std::int64_t>(task.end - task.begin);
    const bool is_flat = lowest == highest && (task.last == none || lowest >= plan_.offset(task.last));
    if (has_one_alignment_ && is_flat) node.spanning = spanning;
    if (has_failed(node)) node.limit = 0;
    nodes_.push_back(node);
}

// The next buffer to try in order of offset, then of number; -1 if there is none.
int CanonicalSearch::next_buffer(Node& node) {
    int next = none;
    if (node.spanning == none) {
        for (const int b : buffers_of(node.task)) {
            if (node.tried != none && !comes_before(node.tried, b)) continue;
            if ((next == none || plan_.offset(b) < plan_.offset(next)) && may_come_next(node, b)) next = b;
        }
        steps_ += static_cast<std::int64_t>(node.task.end - node.task.begin);
    } else if (node.tried == none && node.limit > 0) {
        next = node.spanning;
    }
    if (next != none) node.tried = next;
    return next;
}

bool CanonicalSearch::may_come_next(const Node& node, int buffer) const {
    if (plan_.offset(buffer) >= node.limit) return false;
    if (node.task.last != none && !comes_before(node.task.last, buffer)) return false;
    const int equal = plan_.equal_before(buffer);
    return equal == none || plan_.is_placed(equal);
}

bool CanonicalSearch::comes_before(int a, int b) const {
    return plan_.offset(a) != plan_.offset(b) ? plan_.offset(a) < plan_.offset(b) : a < b;
}

// A range without a plan has none either after a later buffer: fewer buffers may come next.
bool CanonicalSearch::has_failed(const Node& node) const {
    const Failed& failed = failed_[node.key % remembered];
    if (failed.key != node.key || node.task.last == none) return false;
    const std::int64_t offset = plan_.offset(node.task.last);
    return failed.offset < offset || (failed.offset == offset && failed.last <= node.task.last);
}

// The task of the last node has no plan: returns to the node that split it off.
void CanonicalSearch::fail() {
    const Node& node = nodes_.back();
    if (node.task.last != none && node.limit > 0)
        failed_[node.key % remembered] = {node.key, plan_.offset(node.task.last), node.task.last};
    nodes_.resize(static_cast<std::size_t>(node.task.parent) + 1);
}

// Splits a task where no unplaced buffer crosses. Returns the first task to search next; -1 if none is left.
int CanonicalSearch::split(const Task& task, int parent, int last) {
    const int parts = number_parts(task);
    const auto part_of = [&](int b) { return part_[plan_.first(b) - task.from]; };
    start_.assign(static_cast<std::size_t>(parts) + 1, 0);
    for (const int b : buffers_of(task))
        if (!plan_.is_placed(b)) ++start_[part_of(b) + 1];
    start_[0] = buffers_.size();
    std::partial_sum(start_.begin(), start_.end(), start_.begin());

    const std::size_t first_task = tasks_.size();
    for (int tick = task.from; tick <= task.to; ++tick) {
        const int part = part_[tick - task.from];
        if (start_[part] == start_[part + 1]) continue;
        if (tasks_.size() == first_task || tasks_.back().begin != start_[part])
            tasks_.push_back({tick, tick, start_[part], start_[part + 1], last, parent, none});
        tasks_.back().to = tick;
    }
    buffers_.resize(start_.back());
    for (std::size_t i = task.begin; i < task.end; ++i)
        if (const int b = buffers_[i]; !plan_.is_placed(b)) buffers_[start_[part_of(b)]++] = b;
    steps_ += static_cast<std::int64_t>(task.end - task.begin) + task.to - task.from + 1;

    // The smallest part comes first: if it has no plan, that is known soonest.
    std::sort(tasks_.begin() + static_cast<std::ptrdiff_t>(first_task), tasks_.end(), [](const Task& a, const Task& b) {
        return a.end - a.begin != b.end - b.begin ? a.end - a.begin > b.end - b.begin : a.from > b.from;
    });
    int next = task.next;
    for (std::size_t i = first_task; i < tasks_.size(); ++i) {
        tasks_[i].next = next;
        next = static_cast<int>(i);
    }
    return next;
}

// Numbers the parts of a task from 0, in `part_`: neighbouring ticks are in one part if an unplaced buffer connects
// them. Returns the number of parts.
int CanonicalSearch::number_parts(const Task& task) {
    part_.assign(static_cast<std::size_t>(task.to - task.from + 2), 0);
    for (const int b : buffers_of(task)) {
        if (plan_.is_placed(b)) continue;
        ++part_[plan_.first(b) - task.from];
        --part_[plan_.last(b) - task.from];
    }
    int parts = 0, crossing = 0;
    for (int& part : part_) {
        crossing += part;
        part = parts;
        parts += crossing == 0 ? 1 : 0;
    }
    return parts;
}

}  // namespace cairn::memory_plan
