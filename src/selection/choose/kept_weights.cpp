#include "selection/choose/kept_weights.hpp"

#include <algorithm>
#include <utility>

namespace cairn::selection {

using ir::NodeId;

KeptWeights::KeptWeights(std::span<const Bucket> buckets, const std::deque<Producers>& producers) {
    for (std::size_t b = 0; b < buckets.size(); ++b) add(buckets[b], producers[b]);
    std::vector<int> members(weights_.size(), 0);
    for (Form& form : forms_)
        if (form.family >= 0) ++members[static_cast<std::size_t>(form.family = families_.root(form.family))];
    for (Form& form : forms_)
        form.has_other_form = form.family < 0 || members[static_cast<std::size_t>(form.family)] > 1;
}

int KeptWeights::merged(int a, int b) {
    if (a < 0 || b < 0) return std::max(a, b);
    return families_.unite(a, b);
}

int KeptWeights::family_of_weight(std::string_view bound_digest) {
    const auto [it, is_new] = weights_.try_emplace(bound_digest, 0);
    if (is_new) it->second = families_.add();
    return it->second;
}

void KeptWeights::add(const Bucket& bucket, const Producers& producers) {
    const auto& nodes = bucket.graph.nodes();
    std::vector<int> families(nodes.size(), -1);  // -1: of constants alone
    for (NodeId id = 0; id < nodes.size(); ++id) {
        if (!bucket.candidates.bound()[id]) continue;
        if (nodes[id].op == ir::Op::weight) families[id] = family_of_weight(bucket.candidates.bound_digest(id));
        for (const NodeId operand : nodes[id].operands) families[id] = merged(families[id], families[operand]);
    }
    std::vector<int>& of_goals = of_goals_.emplace_back(producers.size(), -1);
    for (const int number : producers.order()) {
        const Goal& goal = producers.goal(number);
        if (!goal.kept) continue;
        const auto [it, fresh] = numbers_.try_emplace(
            {bucket.candidates.bound_digest(goal.value), goal.place.layout, goal.place.device}, size());
        if (fresh) forms_.push_back({families[goal.value]});
        ++forms_[static_cast<std::size_t>(it->second)].readers;
        of_goals[static_cast<std::size_t>(number)] = it->second;
    }
}

}  // namespace cairn::selection
