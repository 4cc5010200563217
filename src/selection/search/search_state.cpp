#include "selection/search/search_state.hpp"

#include <algorithm>
#include <functional>

namespace cairn::search {
namespace {

// Separates the codes from the dependences; no code is as large.
constexpr char32_t border = 0xFFFFFFFFU;

void add(std::vector<int>& goals, int goal) {
    const auto at = std::lower_bound(goals.begin(), goals.end(), goal);
    if (at == goals.end() || *at != goal) goals.insert(at, goal);
}

void remove(std::vector<int>& goals, int goal) {
    const auto at = std::lower_bound(goals.begin(), goals.end(), goal);
    if (at != goals.end() && *at == goal) goals.erase(at);
}

}  // namespace

StateView copy_to_pool(StateView state, std::pmr::memory_resource& pool) {
    auto* const copied = std::pmr::polymorphic_allocator<>(&pool).allocate_object<char32_t>(state.size());
    std::copy(state.begin(), state.end(), copied);
    return {copied, state.size()};
}

StateView codes_of(StateView state) { return state.substr(0, state.find(border)); }

void add_goal(State& codes, int goal, bool is_provided) {
    const auto at = std::lower_bound(codes.begin(), codes.end(), provided(goal), std::greater<>());
    if (at != codes.end() && goal_of(*at) == goal) {
        if (is_provided) *at = provided(goal);
        return;
    }
    codes.insert(at, is_provided ? provided(goal) : pending(goal));
}

bool is_provided(StateView codes, int goal) {
    return std::binary_search(codes.begin(), codes.end(), provided(goal), std::greater<>());
}

StateTransitions::StateTransitions(const SearchProblem& problem, const std::vector<int>& sccs)
    : problem_(&problem),
      sccs_(&sccs),
      has_cycles_(std::any_of(sccs.begin(), sccs.end(), [](int scc) { return scc >= 0; })) {}

void StateTransitions::read_dependences(StateView state) {
    dependences_.clear();
    const std::size_t behind = state.find(border);
    if (behind == StateView::npos) return;
    for (std::size_t at = behind + 1; at < state.size();) {
        Dependence& dependence = dependences_.emplace_back(Dependence{static_cast<int>(state[at]), {}});
        const std::size_t count = state[at + 1];
        for (std::size_t i = 0; i < count; ++i) dependence.on.push_back(static_cast<int>(state[at + 2 + i]));
        at += 2 + count;
    }
}

bool StateTransitions::begin(StateView state, int goal, const Alternative& alternative, State& next) {
    const StateView codes = has_cycles_ ? codes_of(state) : state;
    const StateView others = codes.substr(!codes.empty() && goal_of(codes.front()) == goal ? 1 : 0);
    if (std::any_of(alternative.provides.begin(), alternative.provides.end(),
                    [&](int also) { return is_provided(others, also); }))
        return false;
    if (has_cycles_) {
        read_dependences(state);
        if (!update_dependences(goal, alternative)) return false;
    }
    next.assign(others);
    return true;
}

/// Updates the dependences. False if something would depend on itself.
bool StateTransitions::update_dependences(int goal, const Alternative& alternative) {
    const auto makes = [&](int other) {
        return other == goal || std::binary_search(alternative.provides.begin(), alternative.provides.end(), other);
    };
    const auto may_be_in_cycle = [&](int other) { return scc(other) >= 0; };
    if (!may_be_in_cycle(goal) &&
        std::none_of(alternative.provides.begin(), alternative.provides.end(), may_be_in_cycle))
        return true;
    // All that this choice depends on, as far as decided, with the dependences of provided needs.
    std::vector<int> on;
    for (const int need : alternative.needs) {
        if (!may_be_in_cycle(need)) continue;
        add(on, need);
        for (const Dependence& other : dependences_)
            if (other.goal == need)
                for (const int further : other.on) add(on, further);
    }
    if (std::any_of(on.begin(), on.end(), makes)) return false;
    for (Dependence& other : dependences_) {
        if (std::none_of(other.on.begin(), other.on.end(), makes)) continue;
        for (const int further : on)
            if (scc(further) == scc(other.goal)) add(other.on, further);
        remove(other.on, goal);
    }
    for (const int also : alternative.provides) {
        if (!may_be_in_cycle(also)) continue;
        Dependence& made = dependences_.emplace_back(Dependence{also, {}});
        for (const int further : on)
            if (scc(further) == scc(also)) made.on.push_back(further);
    }
    return true;
}

void StateTransitions::finish(State& next) const {
    if (dependences_.empty()) return;
    std::vector<const Dependence*> ordered;
    for (const Dependence& dependence : dependences_)
        if (!dependence.on.empty()) ordered.push_back(&dependence);
    std::sort(ordered.begin(), ordered.end(),
              [](const Dependence* a, const Dependence* b) { return a->goal > b->goal; });
    if (!ordered.empty()) next.push_back(border);
    for (const Dependence* dependence : ordered) {
        next.push_back(static_cast<char32_t>(dependence->goal));
        next.push_back(static_cast<char32_t>(dependence->on.size()));
        next.insert(next.end(), dependence->on.begin(), dependence->on.end());
    }
}

void StateTransitions::pass(StateView state, State& next) {
    if (!has_cycles_) {
        next.assign(state.substr(1));
        return;
    }
    read_dependences(state);
    const StateView codes = codes_of(state);
    const int goal = goal_of(codes.front());
    std::erase_if(dependences_, [&](const Dependence& dependence) { return dependence.goal == goal; });
    for (Dependence& dependence : dependences_) remove(dependence.on, goal);
    next.assign(codes.substr(1));
    finish(next);
}

}  // namespace cairn::search
