#include "plan/lives.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace cairn::plan {
namespace {

// Pairs kept in memory at most: 64 MiB.
constexpr std::size_t most_pairs = std::size_t{1} << 23;

std::int64_t lower_bound(const Problem& problem, const Lives& lives, std::size_t sample, std::int64_t unit) {
    // (padding, last tick) of what is alive: the largest padding need not be paid by the buffer on top.
    std::priority_queue<std::pair<std::int64_t, int>> paddings;
    std::vector<std::int64_t> leaves(static_cast<std::size_t>(lives.ticks) + 1, 0);
    std::int64_t live = 0, bound = 0;
    std::size_t next = 0;
    for (int tick = 0; tick < lives.ticks; ++tick) {
        live -= leaves[tick];
        for (; next < lives.by_first.size() && lives.first[lives.by_first[next]] == tick; ++next) {
            const int b = lives.by_first[next];
            const std::int64_t bytes = problem.buffers[b].bytes[sample];
            const std::int64_t rounded = align_up(bytes, unit);
            live += rounded;
            leaves[lives.last[b] + 1] += rounded;
            if (bytes > 0) paddings.emplace(rounded - bytes, lives.last[b]);
        }
        while (!paddings.empty() && paddings.top().second < tick) paddings.pop();
        bound = std::max(bound, live - (paddings.empty() ? 0 : paddings.top().first));
    }
    return bound;
}

}  // namespace

Lives::Lives(const Problem& problem) {
    const std::size_t n = problem.buffers.size();
    std::vector<int> starts;
    starts.reserve(n);
    for (const Buffer& buffer : problem.buffers) starts.push_back(buffer.first);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    ticks = static_cast<int>(starts.size());
    first.resize(n);
    last.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Buffer& b = problem.buffers[i];
        first[i] = static_cast<int>(std::lower_bound(starts.begin(), starts.end(), b.first) - starts.begin());
        last[i] = static_cast<int>(std::upper_bound(starts.begin(), starts.end(), b.last) - starts.begin()) - 1;
    }
    by_first.resize(n);
    std::iota(by_first.begin(), by_first.end(), 0);
    std::stable_sort(by_first.begin(), by_first.end(), [&](int a, int b) { return first[a] < first[b]; });
}

std::vector<std::int64_t> lower_bounds(const Problem& problem, const Lives& lives) {
    std::int64_t unit = 0;
    for (const Buffer& buffer : problem.buffers) unit = unit == 0 ? buffer.alignment : std::min(unit, buffer.alignment);
    std::vector<std::int64_t> bounds;
    for (int s = 0; s < problem.samples; ++s) {
        bounds.push_back(problem.buffers.empty() ? 0 : lower_bound(problem, lives, static_cast<std::size_t>(s), unit));
    }
    return bounds;
}

Sizes sizes_of(const Problem& problem, std::span<const std::int64_t> lower_bound) {
    constexpr double scale = 1 << 30;
    Sizes sizes;
    sizes.columns = problem.samples + 1;
    sizes.bytes.reserve(problem.buffers.size() * static_cast<std::size_t>(sizes.columns));
    for (const Buffer& buffer : problem.buffers) {
        double blend = 0;
        for (std::size_t s = 0; s < buffer.bytes.size(); ++s) {
            sizes.bytes.push_back(buffer.bytes[s]);
            if (lower_bound[s] > 0) blend += static_cast<double>(buffer.bytes[s]) / static_cast<double>(lower_bound[s]);
        }
        sizes.bytes.push_back(static_cast<std::int64_t>(blend * scale / problem.samples));
    }
    return sizes;
}

std::vector<std::int64_t> live_bytes(const Lives& lives, const Sizes& sizes, int column) {
    std::vector<std::int64_t> live(static_cast<std::size_t>(lives.ticks) + 1, 0);
    for (int b = 0; b < lives.count(); ++b) {
        live[lives.first[b]] += sizes.at(b, column);
        live[lives.last[b] + 1] -= sizes.at(b, column);
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    live.pop_back();
    return live;
}

Conflicts::Conflicts(const Lives& lives, const std::stop_token& stop) : lives_(&lives) {
    std::vector<std::pair<int, int>> pairs;
    std::vector<int> alive;
    for (const int b : lives.by_first) {
        std::erase_if(alive, [&](int a) { return lives.last[a] < lives.first[b]; });
        if (pairs.size() + alive.size() > most_pairs || stop.stop_requested()) return;
        for (const int a : alive) pairs.emplace_back(a, b);
        alive.push_back(b);
    }
    start_.assign(static_cast<std::size_t>(lives.count()) + 1, 0);
    for (const auto& [a, b] : pairs) ++start_[a + 1], ++start_[b + 1];
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    others_.resize(2 * pairs.size());
    std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
    for (const auto& [a, b] : pairs) {
        others_[next[a]++] = b;
        others_[next[b]++] = a;
    }
    stored_ = true;
}

std::span<const int> Conflicts::of(int buffer) {
    if (stored_) return std::span(others_).subspan(start_[buffer], start_[buffer + 1] - start_[buffer]);
    others_.clear();
    for (int other = 0; other < lives_->count(); ++other) {
        if (other != buffer && lives_->overlap(buffer, other)) others_.push_back(other);
    }
    return others_;
}

}  // namespace cairn::plan
