#include "search/reduce.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory_resource>

namespace cairn::search {
namespace {

// A goal is not taken into its user where that would leave the user with more alternatives than this, or where more
// pairs than that had to be looked at.
constexpr std::size_t most_options = 64, most_pairs = 4096;

using Goals = std::pmr::vector<int>;  // ascending

struct Option {
    double cost;
    Goals needs, provides;
    Set set;
    std::uint64_t marks = 0;  // a bit for each need, some needs sharing one; none before it is asked for
};

std::uint64_t marks_of(Option& option) {
    if (option.marks == 0)
        for (const int need : option.needs) option.marks |= std::uint64_t{1} << (need % 64);
    return option.marks;
}

bool holds(const Goals& goals, int goal) { return std::binary_search(goals.begin(), goals.end(), goal); }

bool overlap(const Goals& a, const Goals& b) {
    return std::any_of(a.begin(), a.end(), [&](int goal) { return holds(b, goal); });
}

// Few are added to many, and to their end.
void add(Goals& goals, const Goals& more) {
    for (const int goal : more) {
        const auto at = std::lower_bound(goals.begin(), goals.end(), goal);
        if (at == goals.end() || *at != goal) goals.insert(at, goal);
    }
}

class Reducer {
public:
    Reducer(const Problem& problem, const std::vector<int>& circles, Space& space, bool only_cheapest,
            const std::stop_token& stop)
        : problem_(problem),
          circles_(circles),
          space_(space),
          only_cheapest_(only_cheapest),
          stop_(stop),
          options_(static_cast<std::size_t>(problem.goals())),
          brings_(options_.size(), false),
          changes_(options_.size(), 0),
          refused_(options_.size()) {}

    std::optional<Reduced> run() {
        const std::vector<bool> reachable = reachable_goals(problem_);
        for (const int root : problem_.roots())
            if (!reachable[static_cast<std::size_t>(root)]) {
                result_.unreachable = root;
                return std::move(result_);
            }
        for (int goal = 0; goal < problem_.goals(); ++goal) {
            if (stop_.stop_requested()) return std::nullopt;
            take_in(goal, reachable);
        }
        while (drop_unused() || absorb()) {}
        if (stop_.stop_requested()) return std::nullopt;
        number();
        return std::move(result_);
    }

private:
    static constexpr int none = -1, several = -2;

    /// An option that may stand among those of a goal: one that has stood there before, or one of a lower goal put into
    /// such a one, which is done when its turn comes.
    struct Entrant {
        std::size_t place;
        double cost;
        Option* option;
        const Option* lower;
        bool stood_before;
    };
    /// A user that had no room for a goal, both being as they were after so many changes.
    struct Refused {
        int by = none, changes_of_user = 0, changes_of_goal = 0;
        friend bool operator==(const Refused&, const Refused&) = default;
    };
    /// How lower options are put into others: in the place of which goal, and whether into themselves or into copies.
    struct Joining {
        int goal = none;
        bool in_place = false;
        std::size_t most = std::numeric_limits<std::size_t>::max();  ///< that may be left
        std::deque<Option> made = {};
    };

    std::vector<Option>& options(int goal) { return options_[static_cast<std::size_t>(goal)]; }
    bool brings(int goal) const { return brings_[static_cast<std::size_t>(goal)]; }

    void take_in(int goal, const std::vector<bool>& reachable) {
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
            const Alternative alternative = problem_.alternative(choice);
            if (!std::all_of(alternative.needs.begin(), alternative.needs.end(),
                             [&](int need) { return reachable[static_cast<std::size_t>(need)]; }))
                continue;
            brings_[static_cast<std::size_t>(goal)] =
                brings(goal) || !alternative.provides.empty() ||
                std::any_of(alternative.needs.begin(), alternative.needs.end(), [&](int need) { return brings(need); });
            options(goal).push_back({alternative.cost,
                                     {alternative.needs.begin(), alternative.needs.end(), &pool_},
                                     {alternative.provides.begin(), alternative.provides.end(), &pool_},
                                     space_.choice(choice, alternative.cost)});
        }
        std::vector<Entrant> entrants;
        for (Option& option : options(goal))
            entrants.push_back({entrants.size(), option.cost, &option, nullptr, false});
        Joining none_joins;
        keep(entrants, none_joins);
        options(goal) = taken(entrants);
    }

    bool beats(Option& one, Option& other) {
        ++result_.work;
        if (one.cost > other.cost || (marks_of(one) & ~marks_of(other)) != 0 || one.provides != other.provides)
            return false;
        result_.work += one.needs.size() + other.needs.size();
        return std::includes(other.needs.begin(), other.needs.end(), one.needs.begin(), one.needs.end()) &&
               std::all_of(other.needs.begin(), other.needs.end(),
                           [&](int need) { return !brings(need) || holds(one.needs, need); });
    }

    /// Leaves the options that there have to be. False where too many are left.
    bool keep(std::vector<Entrant>& entrants, Joining& joining) {
        if (only_cheapest_ ? !keep_unbeaten(entrants, joining) : !keep_different(entrants, joining)) return false;
        std::sort(entrants.begin(), entrants.end(),
                  [](const Entrant& a, const Entrant& b) { return a.place < b.place; });
        return entrants.size() <= joining.most;
    }

    /// Those that none of the others beats; of equal ones the first.
    bool keep_unbeaten(std::vector<Entrant>& entrants, Joining& joining) {
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
            if (std::any_of(kept.begin(), kept.end(), [&](const Entrant& k) { return beats_other(k, entrant); }))
                continue;
            std::erase_if(kept, [&](const Entrant& k) { return k.cost == entrant.cost && beats_other(entrant, k); });
            kept.push_back(entrant);
        }
        for (Entrant& entrant : kept)
            if (entrant.lower != nullptr) entrant.option->set = space_.product(entrant.option->set, entrant.lower->set);
        entrants = std::move(kept);
        return true;
    }

    /// One for each list of needs and what is provided, with the paths of all that have these.
    bool keep_different(std::vector<Entrant>& entrants, Joining& joining) {
        struct Kept {
            Entrant entrant;
            Space::Sum sum = {};
        };
        std::map<std::pair<Goals, Goals>, std::size_t> places;
        std::vector<Kept> kept;
        for (Entrant entrant : entrants) {
            if (entrant.lower != nullptr) join(entrant, joining);
            const Option& option = *entrant.option;
            result_.work += option.needs.size() + 1;
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

    static std::vector<Option> taken(const std::vector<Entrant>& entrants) {
        std::vector<Option> options;
        options.reserve(entrants.size());
        for (const Entrant& entrant : entrants) options.push_back(std::move(*entrant.option));
        return options;
    }

    /// Forgets goals nothing rests on.
    bool drop_unused() {
        std::vector<bool> needed(options_.size(), false);
        for (const int root : problem_.roots()) needed[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = options_.size(); g-- > 0;)
            if (needed[g])
                for (const Option& option : options_[g])
                    for (const auto* goals : {&option.needs, &option.provides})
                        for (const int goal : *goals) needed[static_cast<std::size_t>(goal)] = true;
        bool changed = false;
        for (std::size_t g = 0; g < options_.size(); ++g)
            if (!needed[g] && !options_[g].empty()) options_[g].clear(), changed = true;
        return changed;
    }

    void note(const Option& option, int by) {
        result_.work += option.needs.size() + option.provides.size();
        for (const int need : option.needs) {
            int& known = user_[static_cast<std::size_t>(need)];
            known = known == none || known == by ? by : several;
        }
        for (const int goal : option.provides) user_[static_cast<std::size_t>(goal)] = several;
    }

    /// Takes every goal that it may into its only user.
    bool absorb() {
        user_.assign(options_.size(), none);
        for (const int root : problem_.roots()) user_[static_cast<std::size_t>(root)] = several;
        bool changed = false;
        // All that can need a goal or provide it is higher: it has been noted when the goal's turn comes.
        for (int goal = static_cast<int>(options_.size()) - 1; goal >= 0; --goal) {
            if (stop_.stop_requested()) return false;
            const int by = user_[static_cast<std::size_t>(goal)];
            if (by >= 0 && absorb_into(goal, by))
                changed = true;
            else
                for (const Option& option : options(goal)) note(option, goal);
        }
        return changed;
    }

    bool absorb_into(int goal, int by) {
        const std::vector<Option>& lowers = options(goal);
        const auto may_be_in_circle = [&](int other) { return circles_[static_cast<std::size_t>(other)] >= 0; };
        if (std::any_of(lowers.begin(), lowers.end(), [&](const Option& lower) {
                return std::any_of(lower.provides.begin(), lower.provides.end(), may_be_in_circle);
            }))
            return false;
        int &user_changes = changes_[static_cast<std::size_t>(by)], &changes = changes_[static_cast<std::size_t>(goal)];
        Refused& refused = refused_[static_cast<std::size_t>(goal)];
        const Refused now{by, user_changes, changes};
        if (refused == now) return false;
        std::vector<Entrant> entrants;
        for (Option& upper : options(by)) {
            if (!holds(upper.needs, goal)) {
                entrants.push_back({entrants.size(), upper.cost, &upper, nullptr, true});
                continue;
            }
            for (const Option& lower : lowers)
                // A value has one maker, and nothing rests on itself.
                if (!overlap(lower.provides, upper.provides) &&
                    std::none_of(lower.needs.begin(), lower.needs.end(),
                                 [&](int need) { return may_be_in_circle(need) && holds(upper.provides, need); }))
                    entrants.push_back({entrants.size(), upper.cost + lower.cost, &upper, &lower, false});
        }
        Joining joining{goal, lowers.size() == 1, std::max(most_options, options(by).size())};
        // None left: the search will say that there is no way.
        if (entrants.empty() || entrants.size() > most_pairs + options(by).size() || !keep(entrants, joining)) {
            refused = now;
            return false;
        }
        for (const Entrant& entrant : entrants)
            if (entrant.lower != nullptr) note(*entrant.lower, by);
        options(by) = taken(entrants);
        options(goal).clear();
        ++user_changes, ++changes;
        return true;
    }

    /// Puts the lower option into the other one or, where that is not sure to be replaced, into a copy.
    static void join(Entrant& entrant, Joining& joining) {
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
        if (!option.provides.empty())
            std::erase_if(option.needs, [&](int need) { return holds(option.provides, need); });
        option.cost = entrant.cost;
        option.marks = 0;
    }

    void number() {
        // What can only come along has no option of its own.
        std::vector<bool> kept(options_.size(), false);
        for (const int root : problem_.roots()) kept[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = 0; g < options_.size(); ++g)
            for (const Option& option : options_[g]) {
                kept[g] = true;
                for (const auto* goals : {&option.needs, &option.provides})
                    for (const int goal : *goals) kept[static_cast<std::size_t>(goal)] = true;
            }
        std::vector<int> numbers(options_.size(), -1);
        for (std::size_t g = 0; g < options_.size(); ++g) {
            if (!kept[g]) continue;
            numbers[g] = result_.problem.add_goal();
            result_.circles.push_back(circles_[g]);
            for (Option& option : options_[g]) {
                for (auto* goals : {&option.needs, &option.provides})
                    for (int& goal : *goals) goal = numbers[static_cast<std::size_t>(goal)];
                result_.problem.add_alternative(option.cost, option.needs, option.provides);
                result_.sets.push_back(option.set);
            }
        }
        for (const int root : problem_.roots()) result_.problem.add_root(numbers[static_cast<std::size_t>(root)]);
    }

    const Problem& problem_;
    const std::vector<int>& circles_;
    Space& space_;
    bool only_cheapest_;
    const std::stop_token& stop_;
    std::pmr::monotonic_buffer_resource pool_;
    std::vector<std::vector<Option>> options_;
    std::vector<bool> brings_;  // whether it, or something below it, may provide further goals
    std::vector<int> user_;     // of each goal: its only user so far
    std::vector<int> changes_;  // of each goal's options
    std::vector<Refused> refused_;
    Reduced result_;
};

}  // namespace

// Each goal is followed once: to the alternatives that wait for it, and from those that wait for nothing more on.
std::vector<bool> reachable_goals(const Problem& problem) {
    std::vector<bool> reachable(static_cast<std::size_t>(problem.goals()), false);
    std::vector<std::vector<int>> waiting(reachable.size());
    std::vector<std::size_t> missing(static_cast<std::size_t>(problem.alternatives()));
    std::vector<int> open;
    const auto reach = [&](int goal) {
        if (!reachable[static_cast<std::size_t>(goal)]) open.push_back(goal);
        reachable[static_cast<std::size_t>(goal)] = true;
    };
    const auto take = [&](int choice) {
        reach(problem.goal_of(choice));
        for (const int goal : problem.alternative(choice).provides) reach(goal);
    };
    for (int choice = 0; choice < problem.alternatives(); ++choice) {
        const Alternative alternative = problem.alternative(choice);
        for (const int need : alternative.needs) waiting[static_cast<std::size_t>(need)].push_back(choice);
        missing[static_cast<std::size_t>(choice)] = alternative.needs.size();
        if (alternative.needs.empty()) take(choice);
    }
    while (!open.empty()) {
        const auto goal = static_cast<std::size_t>(open.back());
        open.pop_back();
        for (const int choice : waiting[goal])
            if (--missing[static_cast<std::size_t>(choice)] == 0) take(choice);
    }
    return reachable;
}

std::optional<Reduced> reduce(const Problem& problem, const std::vector<int>& circles, Space& space, bool only_cheapest,
                              const std::stop_token& stop) {
    return Reducer(problem, circles, space, only_cheapest, stop).run();
}

}  // namespace cairn::search
