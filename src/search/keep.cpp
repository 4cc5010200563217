#include "search/keep.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

std::uint64_t marks_of(Option& option) {
    if (option.marks == 0)
        for (const int need : option.needs) option.marks |= std::uint64_t{1} << (need % 64);
    return option.marks;
}

// Few are added to many, and to their end.
void add(Goals& goals, const Goals& more) {
    for (const int goal : more) {
        const auto at = std::lower_bound(goals.begin(), goals.end(), goal);
        if (at == goals.end() || *at != goal) goals.insert(at, goal);
    }
}

/// Puts the lower option into the other one or, where that is not sure to be replaced, into a copy.
void join(Entrant& entrant, Joining& joining) {
    if (!joining.in_place) {
        const Option& upper = *entrant.option;
        const auto pool = upper.needs.get_allocator();
        entrant.option = &joining.made.emplace_back(
            Option{upper.cost, Goals(upper.needs, pool), Goals(upper.provides, pool), upper.set});
    }
    Option& option = *entrant.option;
    option.needs.erase(std::lower_bound(option.needs.begin(), option.needs.end(), joining.goal));
    add(option.needs, entrant.lower->needs);
    add(option.provides, entrant.lower->provides);
    // What one of the two provides the other finds there.
    if (!option.provides.empty()) std::erase_if(option.needs, [&](int need) { return holds(option.provides, need); });
    option.cost = entrant.cost;
    option.marks = 0;
}

}  // namespace

bool holds(const Goals& goals, int goal) { return std::binary_search(goals.begin(), goals.end(), goal); }

bool Keeper::beats(Option& one, Option& other) {
    ++work_;
    if (one.cost > other.cost || (marks_of(one) & ~marks_of(other)) != 0 || one.provides != other.provides)
        return false;
    work_ += one.needs.size() + other.needs.size();
    return std::includes(other.needs.begin(), other.needs.end(), one.needs.begin(), one.needs.end()) &&
           std::all_of(other.needs.begin(), other.needs.end(),
                       [&](int need) { return !brings(need) || holds(one.needs, need); });
}

bool Keeper::keep(std::vector<Entrant>& entrants, Joining& joining) {
    if (only_cheapest_ ? !keep_unbeaten(entrants, joining) : !keep_different(entrants, joining)) return false;
    std::sort(entrants.begin(), entrants.end(), [](const Entrant& a, const Entrant& b) { return a.place < b.place; });
    return entrants.size() <= joining.most;
}

/// Those that none of the others beats; of equal ones the first.
bool Keeper::keep_unbeaten(std::vector<Entrant>& entrants, Joining& joining) {
    // What beats an option costs as much or less, so an option that is kept can only be driven out by equal cost.
    std::sort(entrants.begin(), entrants.end(), [](const Entrant& a, const Entrant& b) {
        return a.cost != b.cost ? a.cost < b.cost : a.place < b.place;
    });
    std::vector<Entrant> kept;
    const auto beats_other = [&](const Entrant& one, const Entrant& other) {
        return !(one.stood_before && other.stood_before) && beats(*one.option, *other.option);
    };
    for (Entrant entrant : entrants) {
        if (kept.size() > joining.most && kept[joining.most].cost < entrant.cost) return false;
        if (entrant.lower != nullptr) join(entrant, joining);
        if (std::any_of(kept.begin(), kept.end(), [&](const Entrant& k) { return beats_other(k, entrant); })) continue;
        std::erase_if(kept, [&](const Entrant& k) { return k.cost == entrant.cost && beats_other(entrant, k); });
        kept.push_back(entrant);
    }
    for (Entrant& entrant : kept)
        if (entrant.lower != nullptr) entrant.option->set = space_.product(entrant.option->set, entrant.lower->set);
    entrants = std::move(kept);
    return true;
}

/// One for each list of needs and what is provided, with the paths of all that have these.
bool Keeper::keep_different(std::vector<Entrant>& entrants, Joining& joining) {
    struct Kept {
        Entrant entrant;
        Space::Sum sum = {};
    };
    std::map<std::pair<Goals, Goals>, std::size_t> places;
    std::vector<Kept> kept;
    for (Entrant entrant : entrants) {
        if (entrant.lower != nullptr) join(entrant, joining);
        const Option& option = *entrant.option;
        work_ += option.needs.size() + 1;
        const std::size_t place = places.try_emplace({option.needs, option.provides}, kept.size()).first->second;
        if (place == kept.size()) kept.push_back({entrant});
        if (kept.size() > joining.most) return false;
        space_.add(kept[place].sum, option.set, entrant.lower == nullptr ? Space::done : entrant.lower->set);
    }
    entrants.clear();
    for (const Kept& one : kept) {
        one.entrant.option->set = space_.set_of(one.sum);
        one.entrant.option->cost = one.sum.cost;
        entrants.push_back(one.entrant);
    }
    return true;
}

std::vector<Option> taken(const std::vector<Entrant>& entrants) {
    std::vector<Option> options;
    options.reserve(entrants.size());
    for (const Entrant& entrant : entrants) options.push_back(std::move(*entrant.option));
    return options;
}

}  // namespace cairn::search
