#include "search/pending.hpp"

#include <algorithm>
#include <functional>

namespace cairn::search {
namespace {

// Stands between the codes and what rests on what; no code is so large.
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

StateView kept(StateView state, std::pmr::memory_resource& pool) {
    auto* const place = std::pmr::polymorphic_allocator<>(&pool).allocate_object<char32_t>(state.size());
    std::copy(state.begin(), state.end(), place);
    return {place, state.size()};
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

Steps::Steps(const Problem& problem, const std::vector<int>& circles)
    : problem_(&problem),
      circles_(&circles),
      has_circles_(std::any_of(circles.begin(), circles.end(), [](int circle) { return circle >= 0; })) {}

void Steps::read_resting(StateView state) {
    resting_.clear();
    const std::size_t behind = state.find(border);
    if (behind == StateView::npos) return;
    for (std::size_t at = behind + 1; at < state.size();) {
        Resting& resting = resting_.emplace_back(Resting{static_cast<int>(state[at]), {}});
        const std::size_t count = state[at + 1];
        for (std::size_t i = 0; i < count; ++i) resting.on.push_back(static_cast<int>(state[at + 2 + i]));
        at += 2 + count;
    }
}

bool Steps::begin(StateView state, int goal, const Alternative& alternative, State& next) {
    const StateView codes = has_circles_ ? codes_of(state) : state;
    const StateView others = codes.substr(!codes.empty() && goal_of(codes.front()) == goal ? 1 : 0);
    if (std::any_of(alternative.provides.begin(), alternative.provides.end(),
                    [&](int also) { return is_provided(others, also); }))
        return false;
    if (has_circles_) {
        read_resting(state);
        if (!rest(goal, alternative)) return false;
    }
    next.assign(others);
    return true;
}

/// Brings what rests on what up to date. False where something would rest on itself.
bool Steps::rest(int goal, const Alternative& alternative) {
    const auto makes = [&](int other) {
        return other == goal || std::binary_search(alternative.provides.begin(), alternative.provides.end(), other);
    };
    const auto may_be_in_circle = [&](int other) { return circle(other) >= 0; };
    if (!may_be_in_circle(goal) &&
        std::none_of(alternative.provides.begin(), alternative.provides.end(), may_be_in_circle))
        return true;
    // All that this choice rests on, as far as it is decided: what is provided brings along what that rests on.
    std::vector<int> on;
    for (const int need : alternative.needs) {
        if (!may_be_in_circle(need)) continue;
        add(on, need);
        for (const Resting& other : resting_)
            if (other.goal == need)
                for (const int further : other.on) add(on, further);
    }
    if (std::any_of(on.begin(), on.end(), makes)) return false;
    for (Resting& other : resting_) {
        if (std::none_of(other.on.begin(), other.on.end(), makes)) continue;
        for (const int further : on)
            if (circle(further) == circle(other.goal)) add(other.on, further);
        remove(other.on, goal);
    }
    for (const int also : alternative.provides) {
        if (!may_be_in_circle(also)) continue;
        Resting& made = resting_.emplace_back(Resting{also, {}});
        for (const int further : on)
            if (circle(further) == circle(also)) made.on.push_back(further);
    }
    return true;
}

void Steps::finish(State& next) const {
    if (resting_.empty()) return;
    std::vector<const Resting*> ordered;
    for (const Resting& resting : resting_)
        if (!resting.on.empty()) ordered.push_back(&resting);
    std::sort(ordered.begin(), ordered.end(), [](const Resting* a, const Resting* b) { return a->goal > b->goal; });
    if (!ordered.empty()) next.push_back(border);
    for (const Resting* resting : ordered) {
        next.push_back(static_cast<char32_t>(resting->goal));
        next.push_back(static_cast<char32_t>(resting->on.size()));
        next.insert(next.end(), resting->on.begin(), resting->on.end());
    }
}

void Steps::pass(StateView state, State& next) {
    if (!has_circles_) {
        next.assign(state.substr(1));
        return;
    }
    read_resting(state);
    const StateView codes = codes_of(state);
    const int goal = goal_of(codes.front());
    std::erase_if(resting_, [&](const Resting& resting) { return resting.goal == goal; });
    for (Resting& resting : resting_) remove(resting.on, goal);
    next.assign(codes.substr(1));
    finish(next);
}

}  // namespace cairn::search
