#include "selection/choose/narrow_cuts.hpp"

#include "selection/search/cut_width.hpp"

#include <algorithm>

namespace cairn::selection {
namespace {

// Inside a layer a few more values are live than between layers. Accepting such cuts lets a weight end after its last
// reader instead of at the end of the layer.
constexpr int cut_width_slack = 3;

/// The position of the last goal that depends on each goal.
std::vector<std::size_t> last_users(Producers& producers) {
    const std::span<const int> order = producers.order();
    std::vector<std::size_t> positions(producers.size(), 0), last(order.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
        positions[static_cast<std::size_t>(order[i])] = i;
        const auto use = [&](int below) { last[positions[static_cast<std::size_t>(below)]] = i; };
        for (const Producers::Producer* producer : producers.producers(order[i])) {
            for (const int need : producer->needs) use(need);
            for (const int provided : producers.provided_by(order[i], *producer)) use(provided);
        }
    }
    return last;
}

search::CutWidths::NarrowCuts narrow_borders(const std::vector<std::size_t>& last_user, int wider = 0) {
    search::CutWidths borders(last_user.size());
    for (std::size_t i = 0; i < last_user.size(); ++i) borders.pass(i, last_user[i]);
    return borders.narrow(wider);
}

}  // namespace

std::vector<std::size_t> narrow_cuts(const Bucket& bucket, Producers& producers) {
    const std::span<const int> order = producers.order();
    std::vector<std::size_t> kept_before(order.size() + 1, 0);
    for (std::size_t i = 0; i < order.size(); ++i)
        kept_before[i + 1] = kept_before[i] + (producers.goal(order[i]).kept ? 1 : 0);
    const search::CutWidths::NarrowCuts narrow = narrow_borders(last_users(producers), cut_width_slack);
    std::vector<std::size_t> chosen;
    int across = 0;
    for (std::size_t n = 0; n < narrow.borders.size(); ++n) {
        const std::size_t position = narrow.borders[n];
        if (bucket.candidates.bound()[producers.goal(order[position - 1]).value]) continue;
        const bool competes = !chosen.empty() && kept_before[chosen.back()] == kept_before[position];
        if (competes && across <= narrow.widths[n]) continue;
        if (competes) chosen.pop_back();
        chosen.push_back(position);
        across = narrow.widths[n];
    }
    chosen.push_back(order.size());
    return chosen;
}

std::vector<bool> transferable_values(const Bucket& bucket, const std::stop_token& stop) {
    Producers producers(bucket, Breadth::cheapest, stop);
    const std::span<const int> order = producers.order();
    const std::vector<std::size_t> last_user = last_users(producers);
    const search::CutWidths::NarrowCuts narrow = narrow_borders(last_user);
    std::vector<bool> may(bucket.graph.nodes().size(), false);
    const auto crosses = [&](std::size_t i) {
        const auto next = std::upper_bound(narrow.borders.begin(), narrow.borders.end(), i);
        return narrow.width <= max_cut_width && next != narrow.borders.end() && *next <= last_user[i];
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Goal& goal = producers.goal(order[i]);
        if (goal.kept || goal.place.in_state || !goal.place.layout.empty()) continue;
        if (crosses(i)) may[goal.value] = true;
    }
    for (const Goal& root : producers.roots())
        if (!root.place.in_state) may[root.value] = true;
    for (ir::NodeId id = 0; id < may.size(); ++id)
        if (bucket.graph.node(id).op == ir::Op::copy_to) may[bucket.candidates.classes().value_of(id)] = true;
    return may;
}

}  // namespace cairn::selection
