#include "select/reduce.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>

namespace cairn::inline v0::select {
namespace {

// A goal is not taken into its user where that would leave the user with more alternatives than this.
constexpr std::size_t most_alternatives = 64;

struct Option {
    Alternative alternative;  // needs and provides ascending
    int decision;             // index into the reduction's decisions
    std::uint64_t marks = 0;  // a bit for each need, some needs sharing one; none before it is asked for
};

std::uint64_t marks_of(Option& option) {
    if (option.marks == 0)
        for (const int need : option.alternative.needs) option.marks |= std::uint64_t{1} << (need % 64);
    return option.marks;
}

bool includes(const Goals& all, const Goals& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
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

}  // namespace

class Reducer {
public:
    Reducer(const SearchProblem& problem, const std::stop_token& stop)
        : stop_(stop),
          options_(problem.goals.size()),
          brings_(problem.goals.size(), false),
          changes_(problem.goals.size(), 0),
          refused_(problem.goals.size()),
          roots_(problem.roots) {
        std::sort(roots_.begin(), roots_.end());
        const std::vector<bool> reachable = reachable_goals(problem);
        const auto possible = [&](int goal) { return reachable[static_cast<std::size_t>(goal)]; };
        for (std::size_t g = 0; g < options_.size(); ++g) {
            go_on();
            for (std::size_t a = 0; a < problem.goals[g].size(); ++a) {
                const Goals& needs = problem.goals[g][a].needs;
                if (!std::all_of(needs.begin(), needs.end(), possible)) continue;
                Option option{problem.goals[g][a], decided({static_cast<int>(g), static_cast<int>(a)})};
                std::sort(option.alternative.needs.begin(), option.alternative.needs.end());
                std::sort(option.alternative.provides.begin(), option.alternative.provides.end());
                brings_[g] = brings_[g] || !option.alternative.provides.empty() ||
                             std::any_of(needs.begin(), needs.end(), [&](int need) { return brings(need); });
                options_[g].push_back(std::move(option));
            }
            std::vector<Entrant> entrants;
            for (Option& option : options_[g])
                entrants.push_back({entrants.size(), option.alternative.cost, &option, nullptr, false});
            Joining none_joins;
            keep_unbeaten(entrants, none_joins);
            options_[g] = taken(entrants);
        }
        for (const int root : problem.roots)
            if (!possible(root))
                throw Error(ErrorKind::unsupported, "select", "goal " + std::to_string(root) + " cannot be reached");
    }

    Reduction run() {
        while (drop_unused() || absorb()) {}
        return numbered();
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

    void go_on() const {
        if (stop_.stop_requested()) throw Cancelled("select");
    }

    std::vector<Option>& options(int goal) { return options_[static_cast<std::size_t>(goal)]; }
    bool brings(int goal) const { return brings_[static_cast<std::size_t>(goal)]; }

    int decided(Reduction::Decision decision) {
        result_.decisions_.push_back(decision);
        return static_cast<int>(result_.decisions_.size()) - 1;
    }

    bool beats(Option& one, Option& other) {
        ++result_.work;
        const Alternative &a = one.alternative, &b = other.alternative;
        if (a.cost > b.cost || (marks_of(one) & ~marks_of(other)) != 0 || a.provides != b.provides) return false;
        result_.work += a.needs.size() + b.needs.size();
        return includes(b.needs, a.needs) && std::all_of(b.needs.begin(), b.needs.end(), [&](int need) {
                   return !brings(need) || holds(a.needs, need);
               });
    }

    /// How lower options are put into others: in the place of which goal, and whether into themselves or into copies.
    struct Joining {
        int goal = none;
        bool in_place = false;
        std::size_t most = std::numeric_limits<std::size_t>::max();  ///< that may be left
        std::deque<Option> made = {};
    };

    /// Leaves the options that none of the others beats; of equal ones the first. False where too many are left.
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
            go_on();
            if (kept.size() > joining.most && kept[joining.most].cost < entrant.cost) return false;
            if (entrant.lower != nullptr) join(entrant, joining);
            if (std::any_of(kept.begin(), kept.end(), [&](const Entrant& k) { return beats_other(k, entrant); }))
                continue;
            std::erase_if(kept, [&](const Entrant& k) { return k.cost == entrant.cost && beats_other(entrant, k); });
            kept.push_back(entrant);
        }
        std::sort(kept.begin(), kept.end(), [](const Entrant& a, const Entrant& b) { return a.place < b.place; });
        entrants = std::move(kept);
        return entrants.size() <= joining.most;
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
        for (const int root : roots_) needed[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = options_.size(); g-- > 0;)
            if (needed[g])
                for (const Option& option : options_[g])
                    for (const auto* goals : {&option.alternative.needs, &option.alternative.provides})
                        for (const int goal : *goals) needed[static_cast<std::size_t>(goal)] = true;
        bool changed = false;
        for (std::size_t g = 0; g < options_.size(); ++g)
            if (!needed[g] && !options_[g].empty()) options_[g].clear(), changed = true;
        return changed;
    }

    void note(const Option& option, int by) {
        result_.work += option.alternative.needs.size() + option.alternative.provides.size();
        for (const int need : option.alternative.needs) {
            int& known = user_[static_cast<std::size_t>(need)];
            known = known == none || known == by ? by : several;
        }
        for (const int goal : option.alternative.provides) user_[static_cast<std::size_t>(goal)] = several;
    }

    /// Takes every goal that it may into its only user.
    bool absorb() {
        user_.assign(options_.size(), none);
        for (const int root : roots_) user_[static_cast<std::size_t>(root)] = several;
        bool changed = false;
        // All that can need a goal or provide it is higher: it has been noted when the goal's turn comes.
        for (int goal = static_cast<int>(options_.size()) - 1; goal >= 0; --goal) {
            go_on();
            const int by = user_[static_cast<std::size_t>(goal)];
            if (by >= 0 && absorb_into(goal, by))
                changed = true;
            else
                for (const Option& option : options(goal)) note(option, goal);
        }
        return changed;
    }

    bool absorb_into(int goal, int by) {
        int &user_changes = changes_[static_cast<std::size_t>(by)], &changes = changes_[static_cast<std::size_t>(goal)];
        Refused& refused = refused_[static_cast<std::size_t>(goal)];
        const Refused now{by, user_changes, changes};
        if (refused == now) return false;
        bool may_be_in_place = options(goal).size() == 1;
        std::vector<Entrant> entrants;
        for (Option& upper : options(by)) {
            if (!holds(upper.alternative.needs, goal)) {
                entrants.push_back({entrants.size(), upper.alternative.cost, &upper, nullptr, true});
                continue;
            }
            for (const Option& lower : options(goal)) {
                if (overlap(lower.alternative.provides, upper.alternative.provides))
                    may_be_in_place = false;
                else
                    entrants.push_back(
                        {entrants.size(), upper.alternative.cost + lower.alternative.cost, &upper, &lower, false});
            }
        }
        // None left: the search will say that there is no way.
        Joining joining{goal, may_be_in_place, std::max(most_alternatives, options(by).size())};
        if (entrants.empty() || !keep_unbeaten(entrants, joining)) {
            refused = now;
            return false;
        }
        for (const Entrant& entrant : entrants) {
            if (entrant.lower == nullptr) continue;
            entrant.option->decision = decided({none, none, entrant.option->decision, entrant.lower->decision});
            note(*entrant.lower, by);
        }
        options(by) = taken(entrants);
        options(goal).clear();
        ++user_changes, ++changes;
        return true;
    }

    /// Puts the lower option into the other one or, where that is not sure to be replaced, into a copy.
    static void join(Entrant& entrant, Joining& joining) {
        if (!joining.in_place) entrant.option = &joining.made.emplace_back(*entrant.option);
        Alternative& alternative = entrant.option->alternative;
        alternative.needs.erase(std::lower_bound(alternative.needs.begin(), alternative.needs.end(), joining.goal));
        add(alternative.needs, entrant.lower->alternative.needs);
        add(alternative.provides, entrant.lower->alternative.provides);
        alternative.cost = entrant.cost;
        entrant.option->marks = 0;
    }

    Reduction numbered() {
        // What can only come along has no option of its own.
        std::vector<bool> kept(options_.size(), false);
        for (const int root : roots_) kept[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = 0; g < options_.size(); ++g)
            for (const Option& option : options_[g]) {
                kept[g] = true;
                for (const auto* goals : {&option.alternative.needs, &option.alternative.provides})
                    for (const int goal : *goals) kept[static_cast<std::size_t>(goal)] = true;
            }
        std::vector<int> number(options_.size(), -1);
        for (std::size_t g = 0; g < options_.size(); ++g) {
            if (!kept[g]) continue;
            number[g] = static_cast<int>(result_.problem.goals.size());
            auto& alternatives = result_.problem.goals.emplace_back();
            auto& starts = result_.starts_.emplace_back();
            for (Option& option : options_[g]) {
                for (auto* goals : {&option.alternative.needs, &option.alternative.provides})
                    for (int& goal : *goals) goal = number[static_cast<std::size_t>(goal)];
                alternatives.push_back(std::move(option.alternative));
                starts.push_back(option.decision);
            }
        }
        for (const int root : roots_) result_.problem.roots.push_back(number[static_cast<std::size_t>(root)]);
        return std::move(result_);
    }

    const std::stop_token& stop_;
    std::vector<std::vector<Option>> options_;
    std::vector<bool> brings_;  // whether it, or something below it, may provide further goals
    std::vector<int> user_;     // of each goal: its only user so far
    std::vector<int> changes_;  // of each goal's options
    std::vector<Refused> refused_;
    std::vector<int> roots_;
    Reduction result_;
};

void Reduction::decide(int goal, int alternative, std::vector<int>& choice) const {
    std::vector<int> open{starts_[static_cast<std::size_t>(goal)][static_cast<std::size_t>(alternative)]};
    while (!open.empty()) {
        const Decision& decision = decisions_[static_cast<std::size_t>(open.back())];
        open.pop_back();
        if (decision.goal >= 0) choice[static_cast<std::size_t>(decision.goal)] = decision.alternative;
        for (const int part : {decision.first, decision.second})
            if (part >= 0) open.push_back(part);
    }
}

// Each goal is followed once: to the alternatives that wait for it, and from those that wait for nothing more on.
std::vector<bool> reachable_goals(const SearchProblem& problem) {
    struct Way {
        int goal;
        const Alternative* alternative;
        std::size_t missing;
    };
    std::vector<Way> ways;
    std::vector<std::vector<std::size_t>> waiting(problem.goals.size());
    std::vector<bool> reachable(problem.goals.size(), false);
    std::vector<int> open;
    const auto reach = [&](int goal) {
        if (!reachable[static_cast<std::size_t>(goal)]) open.push_back(goal);
        reachable[static_cast<std::size_t>(goal)] = true;
    };
    const auto take = [&](const Way& way) {
        reach(way.goal);
        for (const int goal : way.alternative->provides) reach(goal);
    };
    for (std::size_t g = 0; g < problem.goals.size(); ++g)
        for (const Alternative& alternative : problem.goals[g]) {
            for (const int need : alternative.needs) waiting[static_cast<std::size_t>(need)].push_back(ways.size());
            ways.push_back({static_cast<int>(g), &alternative, alternative.needs.size()});
            if (alternative.needs.empty()) take(ways.back());
        }
    while (!open.empty()) {
        const auto goal = static_cast<std::size_t>(open.back());
        open.pop_back();
        for (const std::size_t w : waiting[goal])
            if (--ways[w].missing == 0) take(ways[w]);
    }
    return reachable;
}

Reduction reduce(const SearchProblem& problem, const std::stop_token& stop) { return Reducer(problem, stop).run(); }

}  // namespace cairn::inline v0::select
