#include "program/memory_plan/placement_orders.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace cairn::memory_plan {
namespace {

// Per buffer the peak of live bytes in its live interval, by a sparse table of maxima over power-of-two ranges.
std::vector<double> pressures(const LiveIntervals& intervals, const Sizes& sizes, int column) {
    std::vector<std::vector<std::int64_t>> most{live_bytes(intervals, sizes, column)};
    for (std::size_t span = 2; span <= most[0].size(); span *= 2) {
        const std::vector<std::int64_t>& half = most.back();
        std::vector<std::int64_t> whole(most[0].size() - span + 1);
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = std::max(half[i], half[i + span / 2]);
        most.push_back(std::move(whole));
    }
    std::vector<double> keys;
    for (int b = 0; b < intervals.count(); ++b) {
        const auto ticks = static_cast<unsigned>(intervals.last[b] - intervals.first[b] + 1);
        const auto level = static_cast<std::size_t>(std::bit_width(ticks) - 1);
        const auto right = intervals.last[b] + 1 - (1 << level);
        keys.push_back(static_cast<double>(std::max(most[level][intervals.first[b]], most[level][right])));
    }
    return keys;
}

// Per buffer the sum of live bytes over the ticks of its live interval.
std::vector<double> contentions(const LiveIntervals& intervals, const Sizes& sizes, int column) {
    std::vector<double> sums{0};
    for (const std::int64_t live : live_bytes(intervals, sizes, column))
        sums.push_back(sums.back() + static_cast<double>(live));
    std::vector<double> keys;
    for (int b = 0; b < intervals.count(); ++b) keys.push_back(sums[intervals.last[b] + 1] - sums[intervals.first[b]]);
    return keys;
}

std::vector<double> keys_of(OrderRule rule, const LiveIntervals& intervals, const Sizes& sizes, int column) {
    if (rule == OrderRule::pressure) return pressures(intervals, sizes, column);
    if (rule == OrderRule::contention) return contentions(intervals, sizes, column);
    std::vector<double> keys;
    for (int b = 0; b < intervals.count(); ++b) {
        const double size = static_cast<double>(sizes.at(b, column)),
                     ticks = intervals.last[b] - intervals.first[b] + 1;
        switch (rule) {
            case OrderRule::area: keys.push_back(size * ticks); break;
            case OrderRule::duration: keys.push_back(ticks); break;
            case OrderRule::creation: keys.push_back(-intervals.first[b]); break;
            case OrderRule::ending: keys.push_back(intervals.last[b]); break;
            default: keys.push_back(size);
        }
    }
    return keys;
}

}  // namespace

std::vector<int> order_by(OrderRule rule, const LiveIntervals& intervals, const Sizes& sizes, int column) {
    const std::vector<double> keys = keys_of(rule, intervals, sizes, column);
    std::vector<int> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        return std::tuple(-keys[a], -sizes.at(a, column), a) < std::tuple(-keys[b], -sizes.at(b, column), b);
    });
    return order;
}

}  // namespace cairn::memory_plan
