#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// The search problem: goals, their alternatives, and roots. It is independent of graphs, kernels and times.
namespace cairn::search {

/// An alternative: one way to reach a goal.
struct Alternative {
    double cost = 0;
    std::span<const int> needs;     ///< goals it depends on, ascending, all lower than the goal
    std::span<const int> provides;  ///< further goals it reaches as well, ascending, all lower than the goal
};

/// Goals by number, each with its alternatives, and the required goals, the roots.
///
/// A *path* is a set of alternatives. Visiting the goals from the highest to the lowest, a goal is *wanted* if it is a
/// root or a chosen alternative needs it, and *provided* if a chosen alternative of a higher goal provides it. A path
///   - has exactly one alternative of each goal that is wanted and not provided, and none of any other: an
///     alternative that reaches several goals is chosen for the highest of them, and what else it provides is not
///     computed otherwise;
///   - provides no goal twice: a value has one producer;
///   - is acyclic: there is an order of its alternatives in which each comes after those that reach its needs.
/// Its cost is the sum over its alternatives, each counted once, however many others depend on it.
///
///     SearchProblem problem;
///     problem.add_goal();                     // goal 0
///     problem.add_alternative(2, {}, {});
///     problem.add_goal();                     // goal 1
///     problem.add_alternative(3, {0}, {});    // depends on goal 0
///     problem.add_alternative(9, {}, {});
///     problem.add_root(1);                    // two paths, of cost 5 and 9
///
/// Alternatives are numbered in the order they were added; such a number is a *choice*.
class SearchProblem {
public:
    /// Reserves memory for this number of alternatives and of goals in their lists.
    void reserve(std::size_t alternatives, std::size_t named);
    /// Adds the next goal; alternatives are added to the latest one.
    int add_goal();
    /// Adds an alternative and returns its number. The lists may be in any order; duplicates count once.
    int add_alternative(double cost, std::span<const int> needs, std::span<const int> provides);
    int add_alternative(double cost, std::initializer_list<int> needs, std::initializer_list<int> provides) {
        return add_alternative(cost, std::span(needs.begin(), needs.size()),
                               std::span(provides.begin(), provides.size()));
    }
    void add_root(int goal) { roots_.push_back(goal); }
    void set_cost(int choice, double cost) { costs_[static_cast<std::size_t>(choice)] = cost; }

    int goals() const noexcept { return static_cast<int>(first_.size()); }
    /// Of all goals.
    int alternatives() const noexcept { return static_cast<int>(costs_.size()); }
    /// The alternatives of a goal are [first(goal), first(goal + 1)).
    int first(int goal) const { return goal == goals() ? alternatives() : first_[static_cast<std::size_t>(goal)]; }
    Alternative alternative(int choice) const {
        const auto c = static_cast<std::size_t>(choice);
        const int *begin = lists_.data() + begins_[c], *middle = lists_.data() + middles_[c];
        const int* end = lists_.data() + (c + 1 < begins_.size() ? begins_[c + 1] : lists_.size());
        return {costs_[c], {begin, middle}, {middle, end}};
    }
    double cost(int choice) const { return costs_[static_cast<std::size_t>(choice)]; }
    /// The goal of an alternative.
    int goal_of(int choice) const;
    std::span<const int> roots() const noexcept { return roots_; }

private:
    std::vector<int> first_;  // of each goal
    std::vector<double> costs_;
    std::vector<std::size_t> begins_, middles_;  // of each alternative: begin of its needs, begin of what it provides
    std::vector<int> lists_;
    std::vector<int> roots_;
};

/// The sub-problem induced by some goals and some of their alternatives, renumbered in the same order.
struct InducedProblem {
    SearchProblem problem;     ///< its roots are those roots of the whole that it keeps
    std::vector<int> choices;  ///< by alternative: its number in the whole
    std::vector<int> goals;    ///< by goal: its number in the whole
};

/// Keeps the goals with has_goal and those of their alternatives with has_choice. All goals that a kept alternative
/// needs or provides must be kept.
InducedProblem induced_problem(const SearchProblem& whole, const std::function<bool(int)>& has_goal,
                               const std::function<bool(int)>& has_choice);

/// The first fault as text; empty if there is none: roots and lists in range, lists of lower goals only, no goal both
/// needed and provided by one alternative, finite costs.
std::string fault(const SearchProblem& problem);

/// One line for each goal: `3: 2.5 (0 1|2) 4 (|)`, costs with needs and provided goals; then `roots 3`.
std::string to_string(const SearchProblem& problem);

}  // namespace cairn::search
