#include "search/reduce.hpp"

#include "search/alike.hpp"
#include "search/chain.hpp"
#include "search/keep.hpp"

#include <algorithm>
#include <memory_resource>
#include <numeric>
#include <utility>

namespace cairn::search {
namespace {

// A goal is not taken into its user where that would leave the user with more alternatives than this, or where more
// pairs than that had to be looked at; nor, having several alternatives, into one with so many needs: each would get a
// copy of them, and the search takes such needs apart anyway.
constexpr std::size_t most_options = 64, most_pairs = 4096, most_needs = 256;

bool overlap(const Goals& a, const Goals& b) {
    return std::any_of(a.begin(), a.end(), [&](int goal) { return holds(b, goal); });
}

class Reducer {
public:
    Reducer(const Problem& problem, const std::vector<int>& circles, Space& space, bool only_cheapest,
            const std::stop_token& stop, bool share, const Repeat& repeat)
        : problem_(problem),
          circles_(circles),
          space_(space),
          stop_(stop),
          share_(share),
          repeat_(repeat),
          options_(static_cast<std::size_t>(problem.goals())),
          brings_(options_.size(), false),
          user_(options_.size(), none),
          changes_(options_.size(), 0),
          refused_(options_.size()),
          keeper_(space, only_cheapest, brings_) {}

    std::optional<Reduced> run() {
        const std::vector<bool> reachable = reachable_goals(problem_);
        for (const int root : problem_.roots())
            if (!reachable[static_cast<std::size_t>(root)]) {
                result_.unreachable = root;
                return std::move(result_);
            }
        find_what_brings(reachable);
        for (Stretch& stretch : stretches(reachable)) {
            if (stop_.stop_requested()) return std::nullopt;
            add_stretch(std::move(stretch), reachable);
        }
        is_used_.assign(options_.size(), false);
        for (const int root : problem_.roots()) is_used_[static_cast<std::size_t>(root)] = true;
        simplify({0, problem_.goals()});
        if (stop_.stop_requested()) return std::nullopt;
        number();
        result_.work += keeper_.work();
        return std::move(result_);
    }

private:
    static constexpr int none = -1, several = -2;

    /// A user that had no room for a goal, both being as they were after so many changes.
    struct Refused {
        int by = none, changes_of_user = 0, changes_of_goal = 0;
        friend bool operator==(const Refused&, const Refused&) = default;
    };

    /// A stretch that was made smaller, and what was made of it.
    struct Piece {
        Stretch stretch = {};
        Space::Extent begin = {}, end = {};
        bool comes_again = false;
    };

    std::vector<Option>& options(int goal) { return options_[static_cast<std::size_t>(goal)]; }
    bool brings(int goal) const { return brings_[static_cast<std::size_t>(goal)]; }

    bool can_be_taken(const Alternative& alternative, const std::vector<bool>& reachable) const {
        return std::all_of(alternative.needs.begin(), alternative.needs.end(),
                           [&](int need) { return reachable[static_cast<std::size_t>(need)]; });
    }

    void find_what_brings(const std::vector<bool>& reachable) {
        for (int goal = 0; goal < problem_.goals(); ++goal)
            for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
                const Alternative alternative = problem_.alternative(choice);
                if (can_be_taken(alternative, reachable) &&
                    (!alternative.provides.empty() || std::any_of(alternative.needs.begin(), alternative.needs.end(),
                                                                  [&](int need) { return brings(need); })))
                    brings_[static_cast<std::size_t>(goal)] = true;
            }
    }

    /// All goals in stretches; and of each goal whether other stretches use it, or it is a root.
    std::vector<Stretch> stretches(const std::vector<bool>& reachable) {
        const std::vector<int> cuts = cuts_of(problem_, circles_, share_);
        is_used_.assign(options_.size(), false);
        for (const int root : problem_.roots()) is_used_[static_cast<std::size_t>(root)] = true;
        for (std::size_t r = 0; r + 1 < cuts.size(); ++r)
            for (int choice = problem_.first(cuts[r]); choice < problem_.first(cuts[r + 1]); ++choice) {
                const Alternative alternative = problem_.alternative(choice);
                for (const auto& goals : {alternative.needs, alternative.provides})
                    for (const int goal : goals)
                        if (goal < cuts[r]) is_used_[static_cast<std::size_t>(goal)] = true;
            }
        Marks marks;
        for (std::size_t g = 0; g < options_.size(); ++g) {
            const bool begins_block = g > 0 && block_of(static_cast<int>(g)) != block_of(static_cast<int>(g) - 1);
            marks.anywhere.push_back((reachable[g] ? 1 : 0) | (brings_[g] ? 2 : 0) | (circles_[g] >= 0 ? 4 : 0) |
                                     (begins_block ? 8 : 0));
            marks.inside.push_back(is_used_[g] ? 1 : 0);
        }
        std::vector<Stretch> stretches = stretches_between(problem_, cuts, marks);
        pieces_.resize(stretches.size());
        for (std::size_t r = 0; r < stretches.size(); ++r)
            pieces_[stretches[r].like].comes_again |= stretches[r].like != r;
        return stretches;
    }

    /// What comes again is made smaller alone first, and then repeated.
    void add_stretch(Stretch stretch, const std::vector<bool>& reachable) {
        const std::size_t number = added_++;
        Piece& piece = pieces_[number];
        if (stretch.like != number) {
            repeat(pieces_[stretch.like], stretch);
            return;
        }
        piece.begin = space_.extent();
        for (int goal = stretch.low; goal < stretch.high && !stop_.stop_requested(); ++goal) take_in(goal, reachable);
        if (piece.comes_again) simplify(stretch);
        piece.end = space_.extent();
        piece.stretch = std::move(stretch);
    }

    void repeat(const Piece& piece, const Stretch& stretch) {
        const int goals = stretch.low - piece.stretch.low;
        const int sets =
            space_.repeat(piece.begin, piece.end, problem_.first(stretch.low) - problem_.first(piece.stretch.low));
        const auto moved = [&](const Goals& there) {
            Goals here(&pool_);
            here.reserve(there.size());
            for (const int goal : there)
                here.push_back(
                    goal >= piece.stretch.low
                        ? goal + goals
                        : std::lower_bound(stretch.below.begin(), stretch.below.end(), std::pair(goal, -1))->second);
            return here;
        };
        for (int goal = piece.stretch.low; goal < piece.stretch.high; ++goal) {
            const auto there = static_cast<std::size_t>(goal), here = static_cast<std::size_t>(goal + goals);
            options_[here].reserve(options_[there].size());
            for (const Option& option : options_[there])
                options_[here].push_back({option.cost, moved(option.needs), moved(option.provides),
                                          option.set > Space::done ? option.set + sets : option.set});
            changes_[here] = changes_[there];
            refused_[here] = refused_[there];
            if (refused_[here].by >= 0) refused_[here].by += goals;
        }
    }

    void simplify(const Stretch& stretch) {
        while (drop_unused(stretch) || absorb(stretch)) {}
    }

    void take_in(int goal, const std::vector<bool>& reachable) {
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
            const Alternative alternative = problem_.alternative(choice);
            if (!can_be_taken(alternative, reachable)) continue;
            options(goal).push_back({alternative.cost,
                                     {alternative.needs.begin(), alternative.needs.end(), &pool_},
                                     {alternative.provides.begin(), alternative.provides.end(), &pool_},
                                     space_.choice(choice, alternative.cost)});
        }
        std::vector<Entrant> entrants;
        for (Option& option : options(goal))
            entrants.push_back({entrants.size(), option.cost, &option, nullptr, false});
        Joining none_joins;
        keeper_.keep(entrants, none_joins);
        options(goal) = taken(entrants);
    }

    /// Forgets goals nothing rests on.
    bool drop_unused(const Stretch& stretch) {
        bool changed = false;
        needed_.assign(static_cast<std::size_t>(stretch.high), false);
        for (auto g = static_cast<std::size_t>(stretch.high); g-- > static_cast<std::size_t>(stretch.low);) {
            if (!needed_[g] && !is_used_[g]) {
                changed = changed || !options_[g].empty();
                options_[g].clear();
            }
            for (const Option& option : options_[g])
                for (const auto* goals : {&option.needs, &option.provides})
                    for (const int goal : *goals) needed_[static_cast<std::size_t>(goal)] = true;
        }
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
    bool absorb(const Stretch& stretch) {
        for (auto g = static_cast<std::size_t>(stretch.low); g < static_cast<std::size_t>(stretch.high); ++g)
            user_[g] = is_used_[g] ? several : none;
        bool changed = false;
        // All that can need a goal or provide it is higher: it has been noted when the goal's turn comes.
        for (int goal = stretch.high - 1; goal >= stretch.low; --goal) {
            if (stop_.stop_requested()) return false;
            const int by = user_[static_cast<std::size_t>(goal)];
            if (by >= 0 && may_go_into(goal, by) && absorb_into(goal, by))
                changed = true;
            else
                for (const Option& option : options(goal)) note(option, goal);
        }
        return changed;
    }

    /// The block of `repeat` that a goal lies in; -1: in none.
    int block_of(int goal) const {
        if (!repeat_.any() || goal < repeat_.low || goal >= repeat_.low_of(repeat_.blocks)) return -1;
        return (goal - repeat_.low) / repeat_.goals;
    }

    bool may_go_into(int goal, int by) const { return block_of(goal) < 0 || block_of(goal) == block_of(by); }

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
            if (lowers.size() > 1 && upper.needs.size() > most_needs) {
                refused = now;
                return false;
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
        if (entrants.empty() || entrants.size() > most_pairs + options(by).size() || !keeper_.keep(entrants, joining)) {
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

    void number() {
        // What can only come along has no option of its own.
        std::vector<bool> kept(options_.size(), false);
        std::size_t alternatives = 0, named = 0;
        for (const int root : problem_.roots()) kept[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = 0; g < options_.size(); ++g)
            for (const Option& option : options_[g]) {
                kept[g] = true;
                ++alternatives;
                named += option.needs.size() + option.provides.size();
                for (const auto* goals : {&option.needs, &option.provides})
                    for (const int goal : *goals) kept[static_cast<std::size_t>(goal)] = true;
            }
        result_.problem.reserve(alternatives, named);
        result_.sets.reserve(alternatives);
        std::vector<int> numbers(options_.size(), -1);
        for (std::size_t g = 0; g < options_.size(); ++g) {
            if (!kept[g]) continue;
            numbers[g] = result_.problem.add_goal();
            result_.goals.push_back(static_cast<int>(g));
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
    const std::stop_token& stop_;
    bool share_;
    const Repeat& repeat_;
    std::pmr::monotonic_buffer_resource pool_;
    std::vector<std::vector<Option>> options_;
    std::vector<bool> brings_;  // whether it, or something below it, may provide further goals
    std::vector<Piece> pieces_;
    std::size_t added_ = 0;      // of these
    std::vector<bool> is_used_;  // of each goal: by what is not looked at
    std::vector<bool> needed_;   // of each goal: by what is, so far
    std::vector<int> user_;      // of each goal: its only user so far
    std::vector<int> changes_;   // of each goal's options
    std::vector<Refused> refused_;
    Keeper keeper_;
    Reduced result_;
};

/// Going up once, which is enough where nothing that comes along is out of reach from below; else nothing.
std::optional<std::vector<bool>> reachable_from_below(const Problem& problem) {
    std::vector<bool> reachable(static_cast<std::size_t>(problem.goals()), false);
    const auto is_reachable = [&](int goal) { return reachable[static_cast<std::size_t>(goal)]; };
    for (int goal = 0; goal < problem.goals(); ++goal)
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            if (!std::all_of(alternative.needs.begin(), alternative.needs.end(), is_reachable)) continue;
            if (!std::all_of(alternative.provides.begin(), alternative.provides.end(), is_reachable))
                return std::nullopt;
            reachable[static_cast<std::size_t>(goal)] = true;
        }
    return reachable;
}

}  // namespace

// Each goal is followed once: to the alternatives that wait for it, and from those that wait for nothing more on.
std::vector<bool> reachable_goals(const Problem& problem) {
    if (std::optional<std::vector<bool>> reachable = reachable_from_below(problem)) return *std::move(reachable);
    std::vector<bool> reachable(static_cast<std::size_t>(problem.goals()), false);
    std::vector<std::size_t> missing(static_cast<std::size_t>(problem.alternatives()));
    // The alternatives that wait for goal g are waiting[ends[g - 1]..ends[g]].
    std::vector<std::size_t> ends(reachable.size() + 1, 0);
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        for (const int need : problem.alternative(choice).needs) ++ends[static_cast<std::size_t>(need) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<int> waiting(ends.back());
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
        for (const int need : alternative.needs) waiting[ends[static_cast<std::size_t>(need)]++] = choice;
        missing[static_cast<std::size_t>(choice)] = alternative.needs.size();
        if (alternative.needs.empty()) take(choice);
    }
    while (!open.empty()) {
        const auto goal = static_cast<std::size_t>(open.back());
        open.pop_back();
        for (std::size_t i = goal == 0 ? 0 : ends[goal - 1]; i < ends[goal]; ++i)
            if (--missing[static_cast<std::size_t>(waiting[i])] == 0) take(waiting[i]);
    }
    return reachable;
}

std::optional<Reduced> reduce(const Problem& problem, const std::vector<int>& circles, Space& space, bool only_cheapest,
                              const std::stop_token& stop, bool share, const Repeat& repeat) {
    return Reducer(problem, circles, space, only_cheapest, stop, share, repeat).run();
}

}  // namespace cairn::search
