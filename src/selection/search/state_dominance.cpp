#include "selection/search/state_dominance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cairn::search {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

// Maximum numbers of states that one is compared with: those of an equal key, and the cheapest of all.
constexpr std::size_t most_of_a_key = 16, most_of_all = 4;

// Sums of the same costs in another order differ by rounding.
constexpr double margin = 1e-9;

bool is_provided_code(char32_t code) { return (code & 1U) != 0; }

}  // namespace

StateDominance::StateDominance(const SearchProblem& problem, int low, int high, std::stop_token stop)
    : low_(low),
      high_(high),
      stop_(std::move(stop)),
      alone_(static_cast<std::size_t>(high - low), unknown),
      may_provide_(static_cast<std::size_t>(high - low), false),
      derivations_(static_cast<std::size_t>(high - low)),
      classes_(high),
      remaining_(static_cast<std::size_t>(high - low)),
      parts_(high - low),
      below_of_parts_(static_cast<std::size_t>(high - low)) {
    find_alone(problem);
    find_derivations(problem);
    find_remaining(problem);
}

double StateDominance::alone(int goal) const {
    return goal < low_ ? unknown : alone_[static_cast<std::size_t>(goal - low_)];
}

/// What goals below the region provide is not part of it.
bool StateDominance::may_provide(int goal) const {
    return goal < low_ || may_provide_[static_cast<std::size_t>(goal - low_)];
}

void StateDominance::find_alone(const SearchProblem& problem) {
    for (int goal = low_; goal < high_ && !stop_.stop_requested(); ++goal) {
        const auto at = static_cast<std::size_t>(goal - low_);
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            double cost = std::max(alternative.cost, 0.0);
            for (const int need : alternative.needs) {
                cost += alone(need);
                if (may_provide(need)) may_provide_[at] = true;
            }
            if (alternative.provides.empty())
                alone_[at] = std::min(alone_[at], cost);
            else
                may_provide_[at] = true;
        }
    }
}

void StateDominance::find_derivations(const SearchProblem& problem) {
    for (int goal = low_; goal < high_ && !stop_.stop_requested(); ++goal) {
        std::vector<Derivation>& derivations = derivations_[static_cast<std::size_t>(goal - low_)];
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            if (!alternative.provides.empty()) continue;
            for (const int need : alternative.needs) {
                double cost = std::max(alternative.cost, 0.0);
                for (const int other : alternative.needs)
                    if (other != need) cost += alone(other);
                if (cost == unknown) continue;
                const auto known = std::find_if(derivations.begin(), derivations.end(),
                                                [&](const Derivation& derivation) { return derivation.need == need; });
                if (known == derivations.end()) {
                    derivations.push_back({need, cost});
                    classes_.unite(goal, need);
                } else {
                    known->cost = std::min(known->cost, cost);
                }
            }
        }
        std::sort(derivations.begin(), derivations.end(), [](const Derivation& a, const Derivation& b) {
            return std::tie(a.cost, a.need) < std::tie(b.cost, b.need);
        });
    }
}

void StateDominance::find_remaining(const SearchProblem& problem) {
    for (int goal = low_; goal < high_ && !stop_.stop_requested(); ++goal) {
        Remaining& of_goal = remaining_[static_cast<std::size_t>(goal - low_)];
        if (alone(goal) < unknown) {
            of_goal.own = alone(goal);
            continue;
        }
        double least = unknown;
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            double own = alternative.cost, needs = 0, below = 0;
            for (const int need : alternative.needs) {
                if (need < low_) continue;
                const Remaining& of_need = remaining_[static_cast<std::size_t>(need - low_)];
                (alone(need) < unknown ? own : needs) += of_need.own;
                below = std::max(below, of_need.below);
                if (!(alone(need) < unknown)) parts_.unite(goal - low_, need - low_);
            }
            if (own + needs + below < least) {
                least = own + needs + below;
                of_goal = {own, needs + below};
            }
        }
    }
}

double StateDominance::remaining(StateView state) {
    double sum = 0;
    touched_.clear();
    for (const char32_t code : state) {
        const int goal = goal_of(code);
        if (is_provided_code(code) || goal < low_) continue;
        const Remaining& of_goal = remaining_[static_cast<std::size_t>(goal - low_)];
        sum += of_goal.own;
        if (of_goal.below == 0) continue;
        const int part = parts_.root(goal - low_);
        double& most = below_of_parts_[static_cast<std::size_t>(part)];
        most = std::max(most, of_goal.below);
        touched_.push_back(part);
    }
    for (const int part : touched_) sum += std::exchange(below_of_parts_[static_cast<std::size_t>(part)], 0.0);
    return sum;
}

/// States with equal keys are the likeliest to dominate each other: provided goals, and of others the classes of those
/// that cannot be made alone for `most`.
void StateDominance::find_key(StateView state, double most) {
    key_.clear();
    for (const char32_t code : state) {
        if (is_provided_code(code))
            key_.push_back(code);
        else if (!(alone(goal_of(code)) < most))
            key_.push_back(pending(classes_.root(goal_of(code))));
    }
    std::sort(key_.begin(), key_.end());
    key_.erase(std::unique(key_.begin(), key_.end()), key_.end());
}

/// True if all that `one` needs beside `other` costs less than `most`.
bool StateDominance::dominates(StateView one, StateView other, double most, Provides provides) const {
    if (!(most > 0)) return false;
    const auto has = [](StateView state, char32_t code) {
        return std::binary_search(state.begin(), state.end(), code, std::greater<>());
    };
    std::vector<int> used;
    double extra = 0;
    auto at = other.begin();  // both are descending
    for (const char32_t code : one) {
        for (; at != other.end() && *at > code; ++at)
            // A provided goal of `other` alone is still to be read on its paths.
            if (is_provided_code(*at)) return false;
        if (at != other.end() && *at == code) {
            ++at;
            continue;
        }
        const int goal = goal_of(code);
        if (is_provided_code(code) || goal < low_) return false;
        double least = alone(goal);
        int of = -1;
        for (const Derivation& derivation : derivations_[static_cast<std::size_t>(goal - low_)]) {
            if (derivation.cost >= std::min(least, most - extra)) break;
            if (!has(other, pending(derivation.need))) continue;
            least = derivation.cost, of = derivation.need;
            break;
        }
        extra += least;
        if (!(extra < most)) return false;
        if (of >= 0) used.push_back(of);
    }
    if (std::any_of(at, other.end(), is_provided_code)) return false;
    // A goal that `one` does not need may provide another one on the paths of `other`.
    return provides == Provides::ignored || std::all_of(other.begin(), other.end(), [&](char32_t code) {
               return is_provided_code(code) || !may_provide(goal_of(code)) || has(one, code) ||
                      std::find(used.begin(), used.end(), goal_of(code)) != used.end();
           });
}

std::vector<std::size_t> StateDominance::undominated(std::span<const StateTable::ReachedState> states,
                                                     Provides provides) {
    std::vector<std::size_t> order(states.size()), kept, cheapest;
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (stop_.stop_requested()) return order;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return states[a].sum.cost < states[b].sum.cost; });
    if (order.empty()) return kept;
    const double least = states[order.front()].sum.cost, most = states[order.back()].sum.cost;
    std::unordered_map<State, std::vector<std::size_t>> comparable;
    for (const std::size_t index : order) {
        if (stop_.stop_requested()) {
            std::sort(order.begin(), order.end());
            return order;
        }
        const auto& [state, sum] = states[index];
        const double rounding = margin * std::abs(sum.cost);
        const auto is_dominated_by = [&](std::size_t other) {
            return dominates(states[other].state, state, sum.cost - states[other].sum.cost - rounding, provides);
        };
        if (std::any_of(cheapest.begin(), cheapest.end(), is_dominated_by)) continue;
        find_key(state, most - least);
        std::vector<std::size_t>& others = comparable[key_];
        if (std::any_of(others.begin(), others.end(), is_dominated_by)) continue;
        kept.push_back(index);
        if (cheapest.size() < most_of_all)
            cheapest.push_back(index);
        else if (others.size() < most_of_a_key)
            others.push_back(index);
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

}  // namespace cairn::search
