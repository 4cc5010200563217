#include "selection/search/presolve.hpp"

#include "selection/search/chain.hpp"
#include "selection/search/dominance.hpp"
#include "selection/search/equal_segments.hpp"
#include "selection/search/goal_users.hpp"
#include "selection/search/substitution.hpp"

#include <algorithm>
#include <limits>
#include <memory_resource>
#include <utility>

namespace cairn::search {
namespace {

// Limits of inlining a goal into its user: the alternatives that the user may then have, the pairs of alternatives
// compared, and the needs of a user's alternative if the goal has several, since each would get a copy of them; the
// search splits such needs anyway.
constexpr std::size_t max_options = 64, max_pairs = 4096, max_needs = 256;

bool overlap(const GoalList& a, const GoalList& b) {
    return std::any_of(a.begin(), a.end(), [&](int goal) { return contains(b, goal); });
}

class Presolver {
public:
    Presolver(const SearchProblem& problem, const std::vector<int>& sccs, PathDag& dag, bool only_cheapest,
              const std::stop_token& stop, bool share, double gap)
        : problem_(problem),
          sccs_(sccs),
          dag_(dag),
          stop_(stop),
          share_(share),
          gap_(only_cheapest ? 0 : gap),
          options_(static_cast<std::size_t>(problem.goals())),
          may_provide_(options_.size(), false),
          only_user_(options_.size(), none),
          changes_(options_.size(), 0),
          failed_(options_.size()),
          pruner_(dag, only_cheapest, may_provide_) {}

    std::optional<PresolvedProblem> run() {
        std::vector<bool> reachable = reachable_goals(problem_);
        for (const int root : problem_.roots())
            if (!reachable[static_cast<std::size_t>(root)]) {
                result_.unreachable = root;
                return std::move(result_);
            }
        if (gap_ < std::numeric_limits<double>::infinity()) {
            const std::vector<bool> is_replaced = replaceable_goals(problem_, sccs_, gap_, stop_);
            for (std::size_t g = 0; g < reachable.size(); ++g) reachable[g] = reachable[g] && !is_replaced[g];
        }
        find_may_provide(reachable);
        for (Segment& segment : segments(reachable)) {
            if (stop_.stop_requested()) return std::nullopt;
            add_segment(std::move(segment), reachable);
        }
        is_used_.assign(options_.size(), false);
        for (const int root : problem_.roots()) is_used_[static_cast<std::size_t>(root)] = true;
        simplify({0, problem_.goals()});
        if (stop_.stop_requested()) return std::nullopt;
        number();
        result_.work += pruner_.work();
        return std::move(result_);
    }

private:
    static constexpr int none = -1, several = -2;

    /// A user that a goal could not be inlined into, with the change counts of both at that time.
    struct FailedInlining {
        int by = none, changes_of_user = 0, changes_of_goal = 0;
        friend bool operator==(const FailedInlining&, const FailedInlining&) = default;
    };

    /// A reduced segment, and the extent of its sets.
    struct Piece {
        Segment segment = {};
        PathDag::Extent begin = {}, end = {};
        bool is_repeated = false;
    };

    std::vector<PresolveOption>& options(int goal) { return options_[static_cast<std::size_t>(goal)]; }
    bool may_provide(int goal) const { return may_provide_[static_cast<std::size_t>(goal)]; }

    bool has_reachable_needs(const Alternative& alternative, const std::vector<bool>& reachable) const {
        return std::all_of(alternative.needs.begin(), alternative.needs.end(),
                           [&](int need) { return reachable[static_cast<std::size_t>(need)]; });
    }

    void find_may_provide(const std::vector<bool>& reachable) {
        for (int goal = 0; goal < problem_.goals(); ++goal)
            for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
                const Alternative alternative = problem_.alternative(choice);
                if (has_reachable_needs(alternative, reachable) &&
                    (!alternative.provides.empty() || std::any_of(alternative.needs.begin(), alternative.needs.end(),
                                                                  [&](int need) { return may_provide(need); })))
                    may_provide_[static_cast<std::size_t>(goal)] = true;
            }
    }

    /// All segments; also records for each goal whether other segments use it, or it is a root.
    std::vector<Segment> segments(const std::vector<bool>& reachable) {
        const std::vector<int> cuts = cuts_of(problem_, sccs_, share_);
        is_used_.assign(options_.size(), false);
        for (const int root : problem_.roots()) is_used_[static_cast<std::size_t>(root)] = true;
        for (std::size_t r = 0; r + 1 < cuts.size(); ++r)
            for (int choice = problem_.first(cuts[r]); choice < problem_.first(cuts[r + 1]); ++choice) {
                const Alternative alternative = problem_.alternative(choice);
                for (const auto& goals : {alternative.needs, alternative.provides})
                    for (const int goal : goals)
                        if (goal < cuts[r]) is_used_[static_cast<std::size_t>(goal)] = true;
            }
        GoalFlags flags;
        for (std::size_t g = 0; g < options_.size(); ++g) {
            flags.anywhere.push_back((reachable[g] ? 1 : 0) | (may_provide_[g] ? 2 : 0) | (sccs_[g] >= 0 ? 4 : 0));
            flags.inside.push_back(is_used_[g] ? 1 : 0);
        }
        std::vector<Segment> segments = segments_between(problem_, cuts, flags);
        pieces_.resize(segments.size());
        for (std::size_t r = 0; r < segments.size(); ++r)
            pieces_[segments[r].equal_to].is_repeated |= segments[r].equal_to != r;
        return segments;
    }

    /// A segment that repeats is reduced alone first, and then copied.
    void add_segment(Segment segment, const std::vector<bool>& reachable) {
        const std::size_t number = added_++;
        Piece& piece = pieces_[number];
        if (segment.equal_to != number) {
            repeat(pieces_[segment.equal_to], segment);
            return;
        }
        piece.begin = dag_.extent();
        for (int goal = segment.low; goal < segment.high && !stop_.stop_requested(); ++goal)
            add_options(goal, reachable);
        if (piece.is_repeated) simplify(segment);
        piece.end = dag_.extent();
        piece.segment = std::move(segment);
    }

    void repeat(const Piece& piece, const Segment& segment) {
        const int goals = segment.low - piece.segment.low;
        const int sets =
            dag_.repeat(piece.begin, piece.end, problem_.first(segment.low) - problem_.first(piece.segment.low));
        const auto moved = [&](const GoalList& there) {
            GoalList here(&pool_);
            here.reserve(there.size());
            for (const int goal : there)
                here.push_back(
                    goal >= piece.segment.low
                        ? goal + goals
                        : std::lower_bound(segment.below.begin(), segment.below.end(), std::pair(goal, -1))->second);
            return here;
        };
        for (int goal = piece.segment.low; goal < piece.segment.high; ++goal) {
            const auto there = static_cast<std::size_t>(goal), here = static_cast<std::size_t>(goal + goals);
            options_[here].reserve(options_[there].size());
            for (const PresolveOption& option : options_[there])
                options_[here].push_back({option.cost, moved(option.needs), moved(option.provides),
                                          option.set > PathDag::empty_path ? option.set + sets : option.set});
            changes_[here] = changes_[there];
            failed_[here] = failed_[there];
            if (failed_[here].by >= 0) failed_[here].by += goals;
        }
    }

    void simplify(const Segment& segment) {
        while (drop_unused(segment) || inline_goals(segment)) {}
    }

    void add_options(int goal, const std::vector<bool>& reachable) {
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
            const Alternative alternative = problem_.alternative(choice);
            if (!has_reachable_needs(alternative, reachable)) continue;
            options(goal).push_back({alternative.cost,
                                     {alternative.needs.begin(), alternative.needs.end(), &pool_},
                                     {alternative.provides.begin(), alternative.provides.end(), &pool_},
                                     dag_.choice(choice, alternative.cost)});
        }
        std::vector<PruneCandidate> candidates;
        for (PresolveOption& option : options(goal))
            candidates.push_back({candidates.size(), option.cost, &option, nullptr, false});
        Inlining no_inlining;
        pruner_.prune(candidates, no_inlining);
        options(goal) = kept_options(candidates);
    }

    /// Drops the goals that no other goal uses.
    bool drop_unused(const Segment& segment) {
        bool changed = false;
        needed_.assign(static_cast<std::size_t>(segment.high), false);
        for (auto g = static_cast<std::size_t>(segment.high); g-- > static_cast<std::size_t>(segment.low);) {
            if (!needed_[g] && !is_used_[g]) {
                changed = changed || !options_[g].empty();
                options_[g].clear();
            }
            for (const PresolveOption& option : options_[g])
                for (const auto* goals : {&option.needs, &option.provides})
                    for (const int goal : *goals) needed_[static_cast<std::size_t>(goal)] = true;
        }
        return changed;
    }

    void note(const PresolveOption& option, int by) {
        result_.work += option.needs.size() + option.provides.size();
        for (const int need : option.needs) {
            int& known = only_user_[static_cast<std::size_t>(need)];
            known = known == none || known == by ? by : several;
        }
        for (const int goal : option.provides) only_user_[static_cast<std::size_t>(goal)] = several;
    }

    /// Inlines every goal that it may into its only user.
    bool inline_goals(const Segment& segment) {
        for (auto g = static_cast<std::size_t>(segment.low); g < static_cast<std::size_t>(segment.high); ++g)
            only_user_[g] = is_used_[g] ? several : none;
        bool changed = false;
        // All users and providers of a goal are higher, so they have been recorded when the goal is visited.
        for (int goal = segment.high - 1; goal >= segment.low; --goal) {
            if (stop_.stop_requested()) return false;
            const int by = only_user_[static_cast<std::size_t>(goal)];
            if (by >= 0 && inline_goal_into(goal, by))
                changed = true;
            else
                for (const PresolveOption& option : options(goal)) note(option, goal);
        }
        return changed;
    }

    bool inline_goal_into(int goal, int by) {
        const std::vector<PresolveOption>& lowers = options(goal);
        const auto may_be_in_cycle = [&](int other) { return sccs_[static_cast<std::size_t>(other)] >= 0; };
        if (std::any_of(lowers.begin(), lowers.end(), [&](const PresolveOption& lower) {
                return std::any_of(lower.provides.begin(), lower.provides.end(), may_be_in_cycle);
            }))
            return false;
        int &user_changes = changes_[static_cast<std::size_t>(by)], &changes = changes_[static_cast<std::size_t>(goal)];
        FailedInlining& failed = failed_[static_cast<std::size_t>(goal)];
        const FailedInlining now{by, user_changes, changes};
        if (failed == now) return false;
        std::vector<PruneCandidate> candidates;
        for (PresolveOption& upper : options(by)) {
            if (!contains(upper.needs, goal)) {
                candidates.push_back({candidates.size(), upper.cost, &upper, nullptr, true});
                continue;
            }
            if (lowers.size() > 1 && upper.needs.size() > max_needs) {
                failed = now;
                return false;
            }
            for (const PresolveOption& lower : lowers)
                // A value has one producer, and nothing depends on itself.
                if (!overlap(lower.provides, upper.provides) &&
                    std::none_of(lower.needs.begin(), lower.needs.end(),
                                 [&](int need) { return may_be_in_cycle(need) && contains(upper.provides, need); }))
                    candidates.push_back({candidates.size(), upper.cost + lower.cost, &upper, &lower, false});
        }
        Inlining inlining{goal, lowers.size() == 1, std::max(max_options, options(by).size())};
        // If none is left, the search reports that there is no path.
        if (candidates.empty() || candidates.size() > max_pairs + options(by).size() ||
            !pruner_.prune(candidates, inlining)) {
            failed = now;
            return false;
        }
        for (const PruneCandidate& candidate : candidates)
            if (candidate.lower != nullptr) note(*candidate.lower, by);
        options(by) = kept_options(candidates);
        options(goal).clear();
        ++user_changes, ++changes;
        return true;
    }

    void number() {
        // A goal that can only be provided has no option of its own.
        std::vector<bool> kept(options_.size(), false);
        std::size_t alternatives = 0, named = 0;
        for (const int root : problem_.roots()) kept[static_cast<std::size_t>(root)] = true;
        for (std::size_t g = 0; g < options_.size(); ++g)
            for (const PresolveOption& option : options_[g]) {
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
            result_.sccs.push_back(sccs_[g]);
            for (PresolveOption& option : options_[g]) {
                for (auto* goals : {&option.needs, &option.provides})
                    for (int& goal : *goals) goal = numbers[static_cast<std::size_t>(goal)];
                result_.problem.add_alternative(option.cost, option.needs, option.provides);
                result_.sets.push_back(option.set);
            }
        }
        for (const int root : problem_.roots()) result_.problem.add_root(numbers[static_cast<std::size_t>(root)]);
    }

    const SearchProblem& problem_;
    const std::vector<int>& sccs_;
    PathDag& dag_;
    const std::stop_token& stop_;
    bool share_;
    double gap_;
    std::pmr::monotonic_buffer_resource pool_;
    std::vector<std::vector<PresolveOption>> options_;
    std::vector<bool> may_provide_;  // for each goal: it, or a goal below it, may provide further goals
    std::vector<Piece> pieces_;
    std::size_t added_ = 0;       // of these
    std::vector<bool> is_used_;   // for each goal: used outside the current segments
    std::vector<bool> needed_;    // for each goal: needed by one visited so far
    std::vector<int> only_user_;  // for each goal: its only user so far
    std::vector<int> changes_;    // of each goal's options
    std::vector<FailedInlining> failed_;
    DominancePruner pruner_;
    PresolvedProblem result_;
};

/// One ascending pass, which suffices if all provided goals are reachable from below; otherwise empty.
std::optional<std::vector<bool>> reachable_from_below(const SearchProblem& problem) {
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

// Worklist: each goal is visited once and releases the alternatives that need it.
std::vector<bool> reachable_goals(const SearchProblem& problem) {
    if (std::optional<std::vector<bool>> reachable = reachable_from_below(problem)) return *std::move(reachable);
    std::vector<bool> reachable(static_cast<std::size_t>(problem.goals()), false);
    std::vector<std::size_t> missing(static_cast<std::size_t>(problem.alternatives()));
    const GoalUsers users(problem);
    std::vector<int> open;
    const auto reach = [&](int goal) {
        if (!reachable[static_cast<std::size_t>(goal)]) open.push_back(goal);
        reachable[static_cast<std::size_t>(goal)] = true;
    };
    const auto add_choice = [&](int choice) {
        reach(problem.goal_of(choice));
        for (const int goal : problem.alternative(choice).provides) reach(goal);
    };
    for (int choice = 0; choice < problem.alternatives(); ++choice) {
        const Alternative alternative = problem.alternative(choice);
        missing[static_cast<std::size_t>(choice)] = alternative.needs.size();
        if (alternative.needs.empty()) add_choice(choice);
    }
    while (!open.empty()) {
        const int goal = open.back();
        open.pop_back();
        for (const int user : users.of(goal))
            if (--missing[static_cast<std::size_t>(user)] == 0) add_choice(user);
    }
    return reachable;
}

std::optional<PresolvedProblem> presolve(const SearchProblem& problem, const std::vector<int>& sccs, PathDag& dag,
                                         bool only_cheapest, const std::stop_token& stop, bool share, double gap) {
    return Presolver(problem, sccs, dag, only_cheapest, stop, share, gap).run();
}

}  // namespace cairn::search
