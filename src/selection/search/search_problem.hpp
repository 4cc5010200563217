#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// The search among all ways to reach some goals. Numbers in, choices out: it knows no graph, no kernel and no clock.
namespace cairn::search {

/// One way to reach a goal.
struct Alternative {
    double cost = 0;
    std::span<const int> needs;     ///< goals it rests on, ascending, all lower than the goal
    std::span<const int> provides;  ///< further goals it reaches at the same time, ascending, all lower than the goal
};

/// Goals by number, each with its alternatives, and the goals that are asked for: the roots.
///
/// A *path* is a set of alternatives. Going through the goals from the highest to the lowest, a goal is *wanted* where
/// it is a root or a chosen alternative needs it, and *provided* where a chosen alternative of a higher goal provides
/// it. Then a path
///   - has exactly one alternative of each goal that is wanted and not provided, and none of any other: what reaches
///     several goals is entered through the highest of them, and nothing is made for what else it provides;
///   - provides no goal twice: a value has one maker;
///   - does not rest on itself: there is an order of its alternatives in which each comes after those that reach its
///     needs.
/// Its cost is the sum over its alternatives, each counted once however many others rest on it.
///
///     Problem problem;
///     problem.add_goal();                     // goal 0
///     problem.add_alternative(2, {}, {});
///     problem.add_goal();                     // goal 1
///     problem.add_alternative(3, {0}, {});    // rests on goal 0
///     problem.add_alternative(9, {}, {});
///     problem.add_root(1);                    // two paths, of cost 5 and 9
///
/// Alternatives are numbered through, in the order they were added: a *choice* is such a number.
class SearchProblem {
public:
    /// Makes room for so many alternatives that name so many goals in all.
    void reserve(std::size_t alternatives, std::size_t named);
    /// The next goal; alternatives are added to the latest one.
    int add_goal();
    /// Lists may be in any order; what is named twice counts once. Returns its number.
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
    /// The alternatives of a goal: first(goal) to first(goal + 1), without the latter.
    int first(int goal) const { return goal == goals() ? alternatives() : first_[static_cast<std::size_t>(goal)]; }
    Alternative alternative(int choice) const {
        const auto c = static_cast<std::size_t>(choice);
        const int *begin = lists_.data() + begins_[c], *middle = lists_.data() + middles_[c];
        const int* end = lists_.data() + (c + 1 < begins_.size() ? begins_[c + 1] : lists_.size());
        return {costs_[c], {begin, middle}, {middle, end}};
    }
    double cost(int choice) const { return costs_[static_cast<std::size_t>(choice)]; }
    /// Whose alternative it is.
    int goal_of(int choice) const;
    std::span<const int> roots() const noexcept { return roots_; }

private:
    std::vector<int> first_;  // of each goal
    std::vector<double> costs_;
    std::vector<std::size_t> begins_, middles_;  // of each alternative's needs, and of what it provides
    std::vector<int> lists_;
    std::vector<int> roots_;
};

/// Some of a problem's goals, with some of their alternatives, numbered anew in the same order.
struct InducedProblem {
    SearchProblem problem;     ///< its roots are those of the whole that it has
    std::vector<int> choices;  ///< in the whole, of each alternative
    std::vector<int> goals;    ///< in the whole, of each goal
};

/// Asks of each goal whether it is kept and, where it is, of each of its alternatives. What a kept alternative needs or
/// provides must be kept.
InducedProblem induced_problem(const SearchProblem& whole, const std::function<bool(int)>& has_goal,
                               const std::function<bool(int)>& has_choice);

/// The first thing wrong with it, in words; empty when all is well: roots and lists in range, lists of lower goals
/// only, no goal both needed and provided by one alternative, costs that are no NaN and not infinite.
std::string fault(const SearchProblem& problem);

/// A line a goal: `3: 2.5 (0 1|2) 4 (|)`, costs with needs and what is provided; then `roots 3`.
std::string to_string(const SearchProblem& problem);

}  // namespace cairn::search
