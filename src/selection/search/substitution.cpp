#include "selection/search/substitution.hpp"

#include "selection/search/goal_users.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace cairn::search {
namespace {

// Goals that are tried in place of one.
constexpr std::size_t max_tries = 8;

using Goals = std::vector<int>;  // ascending

bool contains(std::span<const int> goals, int goal) { return std::binary_search(goals.begin(), goals.end(), goal); }

Goals difference(std::span<const int> all, std::span<const int> without) {
    Goals rest;
    std::set_difference(all.begin(), all.end(), without.begin(), without.end(), std::back_inserter(rest));
    return rest;
}

class Substitution {
public:
    Substitution(const SearchProblem& problem, const std::vector<int>& sccs, double gap, const std::stop_token& stop)
        : problem_(problem),
          gap_(gap),
          stop_(stop),
          is_replaced_(static_cast<std::size_t>(problem.goals()), false),
          is_fixed_(is_replaced_),
          may_provide_(is_replaced_),
          users_(problem) {
        for (const int root : problem.roots()) is_fixed_[static_cast<std::size_t>(root)] = true;
        for (int goal = 0; goal < problem.goals(); ++goal) {
            const auto g = static_cast<std::size_t>(goal);
            is_fixed_[g] = is_fixed_[g] || sccs[g] >= 0;
            for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
                const Alternative alternative = problem.alternative(choice);
                for (const int other : alternative.provides) is_fixed_[static_cast<std::size_t>(other)] = true;
                is_fixed_[g] = is_fixed_[g] || !alternative.provides.empty();
                may_provide_[g] = may_provide_[g] || !alternative.provides.empty() ||
                                  std::any_of(alternative.needs.begin(), alternative.needs.end(),
                                              [&](int need) { return may_provide_[static_cast<std::size_t>(need)]; });
            }
        }
    }

    std::vector<bool> replaced() {
        for (int goal = 0; goal < problem_.goals() && !stop_.stop_requested(); ++goal)
            if (is_leaf(goal) && !users_.of(goal).empty()) try_to_replace(goal);
        return std::move(is_replaced_);
    }

private:
    /// What a replacement adds to a path and takes from it.
    struct Change {
        std::map<int, double> added;          ///< goals of the twins, with the cost of deriving each
        std::set<int> still_needed = {};      ///< by those
        std::set<int> no_longer_needed = {};  ///< by the alternatives that change
        double of_twins = 0;                  ///< the largest additional cost of the alternatives
    };

    bool is_leaf(int goal) const {
        if (is_fixed_[static_cast<std::size_t>(goal)] || problem_.first(goal) == problem_.first(goal + 1)) return false;
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
            if (!problem_.alternative(choice).needs.empty()) return false;
        return true;
    }

    bool needs_replaced(const Alternative& alternative) const {
        return std::any_of(alternative.needs.begin(), alternative.needs.end(),
                           [&](int need) { return is_replaced_[static_cast<std::size_t>(need)]; });
    }

    double least_cost(int goal) const {
        double least = std::numeric_limits<double>::infinity();
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
            least = std::min(least, problem_.cost(choice));
        return least;
    }

    /// How a goal is derived where an alternative was chosen: all that its own alternative needs is in the path, and
    /// stays in it.
    struct Derivation {
        double cost;
        std::span<const int> needs;
    };
    std::optional<Derivation> derivation_beside(int goal, const Alternative& chosen, int replaced) const {
        if (is_fixed_[static_cast<std::size_t>(goal)]) return std::nullopt;
        const auto stays_in_path = [&](int need) {
            return need != replaced &&
                   (contains(chosen.needs, need) || std::any_of(chosen.needs.begin(), chosen.needs.end(),
                                                                [&](int other) { return depends(other, need); }));
        };
        std::optional<Derivation> least;
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
            const Alternative alternative = problem_.alternative(choice);
            if (!std::all_of(alternative.needs.begin(), alternative.needs.end(), stays_in_path)) continue;
            if (!least || alternative.cost < least->cost) least = {alternative.cost, alternative.needs};
        }
        return least;
    }
    /// True if every alternative of a goal, which is not provided, needs the other one.
    bool depends(int goal, int need) const {
        if (is_fixed_[static_cast<std::size_t>(goal)] || need >= goal) return false;
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
            if (!contains(problem_.alternative(choice).needs, need)) return false;
        return true;
    }

    void try_to_replace(int goal) {
        const int user = users_.of(goal).front();
        const Alternative alternative = problem_.alternative(user);
        const int top = problem_.goal_of(user);
        Goals tried;
        for (int choice = problem_.first(top); choice < problem_.first(top + 1); ++choice)
            for (const int by : difference(problem_.alternative(choice).needs, alternative.needs)) {
                if (by == goal || is_replaced_[static_cast<std::size_t>(by)] || !is_leaf(by)) continue;
                if (std::find(tried.begin(), tried.end(), by) != tried.end()) continue;
                if (tried.size() == max_tries) return;
                tried.push_back(by);
                if (is_gain(goal, by)) {
                    is_replaced_[static_cast<std::size_t>(goal)] = true;
                    return;
                }
            }
    }

    bool is_gain(int goal, int by) const {
        Change change;
        const std::span<const int> users = users_.of(goal);
        for (std::size_t i = 0; i < users.size();) {
            const int top = problem_.goal_of(users[i]);
            double worst = 0;
            for (; i < users.size() && problem_.goal_of(users[i]) == top; ++i) {
                const Alternative alternative = problem_.alternative(users[i]);
                if (needs_replaced(alternative)) continue;  // such paths are not needed either
                const std::optional<double> additional = add_twin(alternative, top, goal, by, change);
                if (!additional) return false;
                worst = std::max(worst, *additional);
            }
            change.of_twins += worst;
        }
        double lost = change.of_twins, gained = least_cost(goal);
        for (const auto& [added, cost] : change.added) lost += cost;
        // What all of these alternatives need, and no others, is in each of the paths.
        for (const int other : change.no_longer_needed)
            if (other != goal && !is_fixed_[static_cast<std::size_t>(other)] && !change.still_needed.contains(other) &&
                std::ranges::equal(users_.of(other), users))
                gained += least_cost(other);
        constexpr double rounding = 1e-9;
        return gained - lost > gap_ + rounding * (gained + lost);
    }

    /// The additional cost of the best twin of an alternative of `top`; adds what the twin needs to the change.
    std::optional<double> add_twin(const Alternative& alternative, int top, int goal, int by, Change& change) const {
        std::optional<double> best;
        std::map<int, Derivation> added;
        Goals dropped;
        for (int choice = problem_.first(top); choice < problem_.first(top + 1); ++choice) {
            const Alternative twin = problem_.alternative(choice);
            if (!contains(twin.needs, by) || contains(twin.needs, goal) || needs_replaced(twin) ||
                !std::equal(twin.provides.begin(), twin.provides.end(), alternative.provides.begin(),
                            alternative.provides.end()) ||
                (best && twin.cost - alternative.cost >= *best))
                continue;
            // What the path no longer needs may have provided a goal that it needs.
            const Goals left = difference(alternative.needs, twin.needs);
            if (std::any_of(left.begin(), left.end(),
                            [&](int need) { return may_provide_[static_cast<std::size_t>(need)]; }))
                continue;
            const Goals further = difference(twin.needs, alternative.needs);
            std::map<int, Derivation> fresh;
            for (const int need : further)
                if (const std::optional<Derivation> derivation = derivation_beside(need, alternative, goal))
                    fresh.emplace(need, *derivation);
            if (fresh.size() != further.size()) continue;
            best = twin.cost - alternative.cost;
            added = std::move(fresh);
            dropped = left;
        }
        for (const auto& [need, derivation] : added) {
            double& known = change.added[need];
            known = std::max(known, derivation.cost);
            change.still_needed.insert(derivation.needs.begin(), derivation.needs.end());
        }
        change.no_longer_needed.insert(dropped.begin(), dropped.end());
        return best;
    }

    const SearchProblem& problem_;
    double gap_;
    const std::stop_token& stop_;
    std::vector<bool> is_replaced_;
    std::vector<bool> is_fixed_;     // for each goal: it is a root, in an SCC, provided by or providing others
    std::vector<bool> may_provide_;  // for each goal: it, or a goal below it, may provide others
    GoalUsers users_;
};

}  // namespace

std::vector<bool> replaceable_goals(const SearchProblem& problem, const std::vector<int>& sccs, double gap,
                                    const std::stop_token& stop) {
    return Substitution(problem, sccs, gap, stop).replaced();
}

}  // namespace cairn::search
