#include "program/memory_plan/partial_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace cairn::memory_plan {

PartialPlan::PartialPlan(const Section& section, std::span<const int> priority)
    : priority_(priority.begin(), priority.end()),
      offset_(priority.size(), 0),
      live_(static_cast<std::size_t>(section.ticks), 0),
      floor_(live_.size(), 0),
      is_placed_(priority.size(), 0) {
    for (const int b : priority) {
        first_.push_back(section.first[b]);
        last_.push_back(section.last[b]);
        bytes_.push_back(section.bytes[b]);
        alignment_.push_back(section.alignment[b]);
        for (int t = section.first[b]; t <= section.last[b]; ++t) live_[t] += section.bytes[b];
    }
    unplaced_ = live_;
    find_equal();
    find_neighbours(section.ticks);
}

void PartialPlan::find_equal() {
    std::map<std::tuple<int, int, std::int64_t, std::int64_t>, int> latest;
    for (int b = 0; b < count(); ++b) {
        const auto [it, is_first] = latest.try_emplace({first_[b], last_[b], bytes_[b], alignment_[b]}, b);
        equal_.push_back(is_first ? -1 : it->second);
        it->second = b;
    }
}

void PartialPlan::find_neighbours(int ticks) {
    std::vector<std::vector<int>> begun(static_cast<std::size_t>(ticks)), lists(bytes_.size());
    for (int b = 0; b < count(); ++b) begun[first_[b]].push_back(b);
    std::vector<int> live;
    for (int tick = 0; tick < ticks; ++tick) {
        std::erase_if(live, [&](int b) { return last_[b] < tick; });
        for (const int b : begun[tick]) {
            for (const int other : live) {
                lists[b].push_back(other);
                lists[other].push_back(b);
            }
            live.push_back(b);
        }
    }
    start_.push_back(0);
    for (const std::vector<int>& list : lists) {
        neighbours_.insert(neighbours_.end(), list.begin(), list.end());
        start_.push_back(neighbours_.size());
    }
    steps_ += static_cast<std::int64_t>(neighbours_.size());
}

bool PartialPlan::start(std::int64_t ceiling) {
    ceiling_ = ceiling;
    unplaced_ = live_;
    std::fill(offset_.begin(), offset_.end(), 0);
    std::fill(is_placed_.begin(), is_placed_.end(), char{0});
    stack_.clear();
    raised_.clear();
    return live_.empty() ? ceiling >= 0 : *std::max_element(live_.begin(), live_.end()) <= ceiling;
}

bool PartialPlan::place(int buffer, const TickRange& range) {
    const auto from = unplaced_.begin() + first_[buffer], to = unplaced_.begin() + last_[buffer] + 1;
    steps_ += to - from;
    if (*std::max_element(from, to) > ceiling_ - offset_[buffer]) return false;
    for (auto unplaced = from; unplaced != to; ++unplaced) *unplaced -= bytes_[buffer];
    is_placed_[buffer] = 1;
    stack_.push_back({buffer, raised_.size()});
    if (raise_neighbours(buffer) && loads_fit(buffer, range) && floors_fit(buffer, range)) return true;
    undo();
    return false;
}

bool PartialPlan::raise_neighbours(int buffer) {
    bool fit = true;
    for (const int other : neighbours(buffer)) {
        if (is_placed_[other] || offset_[other] >= end(buffer)) continue;
        raised_.push_back({other, offset_[other]});
        offset_[other] = align_up(end(buffer), alignment_[other]);
        fit = fit && end(other) <= ceiling_;
    }
    steps_ += static_cast<std::int64_t>(neighbours(buffer).size());
    return fit;
}

// The bound of each tick, with lower bounds of the lowest offsets that are known without a look at the buffers.
bool PartialPlan::loads_fit(int buffer, const TickRange& range) const {
    const auto most = [&](int from, int to) {
        return *std::max_element(unplaced_.begin() + from, unplaced_.begin() + to + 1);
    };
    return most(first_[buffer], last_[buffer]) <= ceiling_ - end(buffer) &&
           most(range.from, range.to) <= ceiling_ - offset_[buffer];
}

bool PartialPlan::floors_fit(int buffer, const TickRange& range) {
    std::fill(floor_.begin() + range.from, floor_.begin() + range.to + 1, ceiling_);
    std::int64_t lowest_end = ceiling_;
    for (const int b : range.buffers)
        if (!is_placed_[b]) lowest_end = std::min(lowest_end, std::max(offset_[b], offset_[buffer]) + bytes_[b]);
    for (const int b : range.buffers) {
        if (is_placed_[b]) continue;
        const std::int64_t lowest = lowest_offset(b, buffer, lowest_end);
        for (int t = first_[b]; t <= last_[b]; ++t) floor_[t] = std::min(floor_[t], lowest);
        steps_ += last_[b] - first_[b] + 1;
    }
    for (int t = range.from; t <= range.to; ++t)
        if (unplaced_[t] > ceiling_ - floor_[t]) return false;
    return true;
}

// The lowest offset at which an unplaced buffer may be placed after `placed`. `lowest_end`: no unplaced buffer of the
// range ends below.
std::int64_t PartialPlan::lowest_offset(int buffer, int placed, std::int64_t lowest_end) {
    const std::int64_t current = offset_[placed];
    if (offset_[buffer] > current || (offset_[buffer] == current && buffer > placed)) return offset_[buffer];
    std::int64_t lowest = ceiling_;
    for (const int other : neighbours(buffer)) {
        if (lowest <= lowest_end) break;
        if (!is_placed_[other]) lowest = std::min(lowest, std::max(offset_[other], current) + bytes_[other]);
        ++steps_;
    }
    return lowest;
}

void PartialPlan::undo() {
    const auto [buffer, raised] = stack_.back();
    stack_.pop_back();
    for (; raised_.size() > raised; raised_.pop_back()) offset_[raised_.back().buffer] = raised_.back().offset;
    for (int t = first_[buffer]; t <= last_[buffer]; ++t) unplaced_[t] += bytes_[buffer];
    is_placed_[buffer] = 0;
}

std::vector<int> PartialPlan::order() const {
    std::vector<int> order(bytes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return offset_[a] < offset_[b]; });
    for (int& b : order) b = priority_[b];
    return order;
}

}  // namespace cairn::memory_plan
