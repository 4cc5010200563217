#include "selection/search/dominance.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

std::uint64_t need_mask_of(PresolveOption& option) {
    if (option.need_mask == 0)
        for (const int need : option.needs) option.need_mask |= std::uint64_t{1} << (need % 64);
    return option.need_mask;
}

// Inserts few goals into many, mostly at the end.
void add(GoalList& goals, const GoalList& more) {
    for (const int goal : more) {
        const auto at = std::lower_bound(goals.begin(), goals.end(), goal);
        if (at == goals.end() || *at != goal) goals.insert(at, goal);
    }
}

/// Inlines the lower option into the upper one or, if that one may not be replaced, into a copy.
void inline_lower(PruneCandidate& candidate, Inlining& inlining) {
    if (!inlining.in_place) {
        const PresolveOption& upper = *candidate.option;
        const auto pool = upper.needs.get_allocator();
        candidate.option = &inlining.made.emplace_back(
            PresolveOption{upper.cost, GoalList(upper.needs, pool), GoalList(upper.provides, pool), upper.set});
    }
    PresolveOption& option = *candidate.option;
    option.needs.erase(std::lower_bound(option.needs.begin(), option.needs.end(), inlining.goal));
    add(option.needs, candidate.lower->needs);
    add(option.provides, candidate.lower->provides);
    // What one of the two provides satisfies the other's needs.
    if (!option.provides.empty())
        std::erase_if(option.needs, [&](int need) { return contains(option.provides, need); });
    option.cost = candidate.cost;
    option.need_mask = 0;
}

}  // namespace

bool contains(const GoalList& goals, int goal) { return std::binary_search(goals.begin(), goals.end(), goal); }

bool DominancePruner::dominates(PresolveOption& one, PresolveOption& other) {
    ++work_;
    if (one.cost > other.cost || (need_mask_of(one) & ~need_mask_of(other)) != 0 || one.provides != other.provides)
        return false;
    work_ += one.needs.size() + other.needs.size();
    return std::includes(other.needs.begin(), other.needs.end(), one.needs.begin(), one.needs.end()) &&
           std::all_of(other.needs.begin(), other.needs.end(),
                       [&](int need) { return !may_provide(need) || contains(one.needs, need); });
}

bool DominancePruner::prune(std::vector<PruneCandidate>& candidates, Inlining& inlining) {
    if (only_cheapest_ ? !keep_undominated(candidates, inlining) : !merge_equal(candidates, inlining)) return false;
    std::sort(candidates.begin(), candidates.end(),
              [](const PruneCandidate& a, const PruneCandidate& b) { return a.position < b.position; });
    return candidates.size() <= inlining.most;
}

/// Keeps the options that no other dominates; of equal ones the first.
bool DominancePruner::keep_undominated(std::vector<PruneCandidate>& candidates, Inlining& inlining) {
    // An option that dominates another costs no more, so only options of equal cost can remove one already kept.
    std::sort(candidates.begin(), candidates.end(), [](const PruneCandidate& a, const PruneCandidate& b) {
        return a.cost != b.cost ? a.cost < b.cost : a.position < b.position;
    });
    std::vector<PruneCandidate> kept;
    const auto dominates_other = [&](const PruneCandidate& one, const PruneCandidate& other) {
        return !(one.was_kept && other.was_kept) && dominates(*one.option, *other.option);
    };
    for (PruneCandidate candidate : candidates) {
        if (kept.size() > inlining.most && kept[inlining.most].cost < candidate.cost) return false;
        if (candidate.lower != nullptr) inline_lower(candidate, inlining);
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const PruneCandidate& k) { return dominates_other(k, candidate); }))
            continue;
        std::erase_if(
            kept, [&](const PruneCandidate& k) { return k.cost == candidate.cost && dominates_other(candidate, k); });
        kept.push_back(candidate);
    }
    for (PruneCandidate& candidate : kept)
        if (candidate.lower != nullptr)
            candidate.option->set = dag_.product(candidate.option->set, candidate.lower->set);
    candidates = std::move(kept);
    return true;
}

/// Merges the options with equal needs and provided goals; the result has the paths of all of them.
bool DominancePruner::merge_equal(std::vector<PruneCandidate>& candidates, Inlining& inlining) {
    struct Kept {
        PruneCandidate candidate;
        PathDag::Sum sum = {};
    };
    std::map<std::pair<GoalList, GoalList>, std::size_t> positions;
    std::vector<Kept> kept;
    for (PruneCandidate candidate : candidates) {
        if (candidate.lower != nullptr) inline_lower(candidate, inlining);
        const PresolveOption& option = *candidate.option;
        work_ += option.needs.size() + 1;
        const std::size_t position = positions.try_emplace({option.needs, option.provides}, kept.size()).first->second;
        if (position == kept.size()) kept.push_back({candidate});
        if (kept.size() > inlining.most) return false;
        dag_.add(kept[position].sum, option.set,
                 candidate.lower == nullptr ? PathDag::empty_path : candidate.lower->set);
    }
    candidates.clear();
    for (const Kept& one : kept) {
        one.candidate.option->set = dag_.set_of(one.sum);
        one.candidate.option->cost = one.sum.cost;
        candidates.push_back(one.candidate);
    }
    return true;
}

std::vector<PresolveOption> kept_options(const std::vector<PruneCandidate>& candidates) {
    std::vector<PresolveOption> options;
    options.reserve(candidates.size());
    for (const PruneCandidate& candidate : candidates) options.push_back(std::move(*candidate.option));
    return options;
}

}  // namespace cairn::search
