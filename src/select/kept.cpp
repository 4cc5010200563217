#include "select/kept.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::select {

using ir::NodeId;

KeptForms::KeptForms(std::span<const Bucket> buckets, const std::deque<Ways>& ways) {
    for (std::size_t b = 0; b < buckets.size(); ++b) add(buckets[b], ways[b]);
    std::vector<int> members(link_.size(), 0);
    for (Form& form : forms_)
        if (form.family >= 0) ++members[static_cast<std::size_t>(form.family = root_of(form.family))];
    for (Form& form : forms_) form.has_rival = form.family < 0 || members[static_cast<std::size_t>(form.family)] > 1;
}

int KeptForms::root_of(int family) {
    const auto at = [&](int f) -> int& { return link_[static_cast<std::size_t>(f)]; };
    while (at(family) != family) family = at(family) = at(at(family));
    return family;
}

int KeptForms::joined(int a, int b) {
    if (a < 0 || b < 0) return std::max(a, b);
    a = root_of(a), b = root_of(b);
    return link_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

int KeptForms::family_of_weight(std::string_view origin) {
    const auto [it, fresh] = weights_.try_emplace(origin, static_cast<int>(link_.size()));
    if (fresh) link_.push_back(it->second);
    return it->second;
}

void KeptForms::add(const Bucket& bucket, const Ways& ways) {
    const auto& nodes = bucket.graph.nodes();
    std::vector<int> families(nodes.size(), -1);  // -1: of constants alone
    for (NodeId id = 0; id < nodes.size(); ++id) {
        if (!bucket.candidates.bound()[id]) continue;
        if (nodes[id].op == ir::Op::weight) families[id] = family_of_weight(bucket.candidates.origin(id));
        for (const NodeId operand : nodes[id].operands) families[id] = joined(families[id], families[operand]);
    }
    std::vector<int>& of_goals = of_goals_.emplace_back(ways.size(), -1);
    for (const int number : ways.order()) {
        const Goal& goal = ways.goal(number);
        if (!goal.kept) continue;
        const auto [it, fresh] =
            numbers_.try_emplace({bucket.candidates.origin(goal.value), goal.place.layout, goal.place.device}, size());
        if (fresh) forms_.push_back({families[goal.value]});
        ++forms_[static_cast<std::size_t>(it->second)].readers;
        of_goals[static_cast<std::size_t>(number)] = it->second;
    }
}

}  // namespace cairn::inline v0::select
