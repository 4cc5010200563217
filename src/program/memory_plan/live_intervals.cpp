#include "program/memory_plan/live_intervals.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>
#include <utility>

namespace cairn::memory_plan {
namespace {

// Maximum number of conflicts stored: 8 MiB.
constexpr std::size_t max_kept = std::size_t{1} << 21;

std::int64_t lower_bound(const PackingProblem& problem, const LiveIntervals& intervals, std::size_t sample,
                         std::int64_t unit) {
    // (padding, last tick) of live buffers: the buffer on top needs no padding, so the largest is not counted.
    std::priority_queue<std::pair<std::int64_t, int>> paddings;
    std::vector<std::int64_t> leaves(static_cast<std::size_t>(intervals.ticks) + 1, 0);
    std::int64_t live = 0, bound = 0;
    std::size_t next = 0;
    for (int tick = 0; tick < intervals.ticks; ++tick) {
        live -= leaves[tick];
        for (; next < intervals.by_first.size() && intervals.first[intervals.by_first[next]] == tick; ++next) {
            const int b = intervals.by_first[next];
            const std::int64_t bytes = problem.buffers[b].bytes[sample];
            const std::int64_t rounded = align_up(bytes, unit);
            live += rounded;
            leaves[intervals.last[b] + 1] += rounded;
            if (bytes > 0) paddings.emplace(rounded - bytes, intervals.last[b]);
        }
        while (!paddings.empty() && paddings.top().second < tick) paddings.pop();
        bound = std::max(bound, live - (paddings.empty() ? 0 : paddings.top().first));
    }
    return bound;
}

}  // namespace

LiveIntervals::LiveIntervals(const PackingProblem& problem) {
    const std::size_t n = problem.buffers.size();
    std::vector<int> starts;
    starts.reserve(n);
    for (const BufferRequest& buffer : problem.buffers) starts.push_back(buffer.first);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    ticks = static_cast<int>(starts.size());
    first.resize(n);
    last.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const BufferRequest& b = problem.buffers[i];
        first[i] = static_cast<int>(std::lower_bound(starts.begin(), starts.end(), b.first) - starts.begin());
        last[i] = static_cast<int>(std::upper_bound(starts.begin(), starts.end(), b.last) - starts.begin()) - 1;
    }
    by_first.resize(n);
    std::iota(by_first.begin(), by_first.end(), 0);
    std::stable_sort(by_first.begin(), by_first.end(), [&](int a, int b) { return first[a] < first[b]; });
}

std::vector<std::int64_t> lower_bounds(const PackingProblem& problem, const LiveIntervals& intervals) {
    std::int64_t unit = 0;
    for (const BufferRequest& buffer : problem.buffers)
        unit = unit == 0 ? buffer.alignment : std::min(unit, buffer.alignment);
    std::vector<std::int64_t> bounds;
    for (int s = 0; s < problem.samples; ++s) {
        bounds.push_back(problem.buffers.empty() ? 0
                                                 : lower_bound(problem, intervals, static_cast<std::size_t>(s), unit));
    }
    return bounds;
}

Sizes sizes_of(const PackingProblem& problem, std::span<const std::int64_t> lower_bound) {
    constexpr double scale = 1 << 30;
    Sizes sizes;
    sizes.columns = problem.samples + 1;
    sizes.bytes.reserve(problem.buffers.size() * static_cast<std::size_t>(sizes.columns));
    for (const BufferRequest& buffer : problem.buffers) {
        double blend = 0;
        for (std::size_t s = 0; s < buffer.bytes.size(); ++s) {
            sizes.bytes.push_back(buffer.bytes[s]);
            if (lower_bound[s] > 0) blend += static_cast<double>(buffer.bytes[s]) / static_cast<double>(lower_bound[s]);
        }
        sizes.bytes.push_back(static_cast<std::int64_t>(blend * scale / problem.samples));
    }
    return sizes;
}

std::vector<std::int64_t> live_bytes(const LiveIntervals& intervals, const Sizes& sizes, int column) {
    std::vector<std::int64_t> live(static_cast<std::size_t>(intervals.ticks) + 1, 0);
    for (int b = 0; b < intervals.count(); ++b) {
        live[intervals.first[b]] += sizes.at(b, column);
        live[intervals.last[b] + 1] -= sizes.at(b, column);
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    live.pop_back();
    return live;
}

Conflicts::Conflicts(const LiveIntervals& intervals)
    : intervals_(&intervals),
      begun_(static_cast<std::size_t>(intervals.ticks) + 1, 0),
      ended_(static_cast<std::size_t>(intervals.ticks) + 1, 0),
      leaves_(std::bit_ceil(std::max<std::size_t>(intervals.by_first.size(), 1))),
      last_(2 * leaves_, -1) {
    for (int b = 0; b < intervals.count(); ++b) ++begun_[intervals.first[b] + 1], ++ended_[intervals.last[b] + 1];
    std::partial_sum(begun_.begin(), begun_.end(), begun_.begin());
    std::partial_sum(ended_.begin(), ended_.end(), ended_.begin());
    for (std::size_t i = 0; i < intervals.by_first.size(); ++i)
        last_[leaves_ + i] = intervals.last[intervals.by_first[i]];
    for (std::size_t i = leaves_; i-- > 1;) last_[i] = std::max(last_[2 * i], last_[2 * i + 1]);

    std::size_t all = 0;
    for (int b = 0; b < intervals.count(); ++b) all += count(b);
    if (all > max_kept) return;
    others_.reserve(all);
    start_.push_back(0);
    for (int b = 0; b < intervals.count(); ++b) {
        find(b, others_);
        start_.push_back(others_.size());
    }
}

// Buffers that began by its last tick, minus those that ended before its first one, minus itself.
std::size_t Conflicts::count(int buffer) const noexcept {
    return static_cast<std::size_t>(begun_[intervals_->last[buffer] + 1] - ended_[intervals_->first[buffer]] - 1);
}

void Conflicts::find(int buffer, std::vector<int>& others) const {
    const int first = intervals_->first[buffer];
    const auto mine = static_cast<std::size_t>(begun_[first]),
               end = static_cast<std::size_t>(begun_[intervals_->last[buffer] + 1]);
    // Buffers that began earlier and have not ended: descend into the subtrees that contain one.
    std::size_t node = 1, from = 0, size = leaves_;
    while (from < mine) {
        if (last_[node] < first) {
            from += size;
        } else if (size > 1) {
            node *= 2, size /= 2;
            continue;
        } else {
            others.push_back(intervals_->by_first[from++]);
        }
        for (++node; node % 2 == 0 && size < leaves_; size *= 2) node /= 2;
    }
    for (std::size_t i = mine; i < end; ++i)
        if (intervals_->by_first[i] != buffer) others.push_back(intervals_->by_first[i]);
}

std::span<const int> Conflicts::of(int buffer) {
    if (!start_.empty()) return std::span(others_).subspan(start_[buffer], start_[buffer + 1] - start_[buffer]);
    others_.clear();
    find(buffer, others_);
    return others_;
}

}  // namespace cairn::memory_plan
