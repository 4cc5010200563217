#include "selection/search/search_problem.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

namespace cairn::search {

void SearchProblem::reserve(std::size_t alternatives, std::size_t named) {
    costs_.reserve(alternatives);
    begins_.reserve(alternatives);
    middles_.reserve(alternatives);
    lists_.reserve(named);
}

int SearchProblem::add_goal() {
    first_.push_back(alternatives());
    return goals() - 1;
}

int SearchProblem::add_alternative(double cost, std::span<const int> needs, std::span<const int> provides) {
    costs_.push_back(cost);
    const auto add = [&](std::span<const int> list, std::vector<std::size_t>& begins) {
        const std::size_t begin = lists_.size();
        begins.push_back(begin);
        lists_.insert(lists_.end(), list.begin(), list.end());
        if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end()) return;
        const auto first = lists_.begin() + static_cast<std::ptrdiff_t>(begin);
        std::sort(first, lists_.end());
        lists_.erase(std::unique(first, lists_.end()), lists_.end());
    };
    add(needs, begins_);
    add(provides, middles_);
    return alternatives() - 1;
}

int SearchProblem::goal_of(int choice) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), choice) - first_.begin()) - 1;
}

InducedProblem induced_problem(const SearchProblem& whole, const std::function<bool(int)>& has_goal,
                               const std::function<bool(int)>& has_choice) {
    InducedProblem induced;
    std::vector<int> numbers(static_cast<std::size_t>(whole.goals()), -1), needs, provides;
    const auto number = [&](std::span<const int> list, std::vector<int>& numbered) -> std::span<const int> {
        numbered.clear();
        for (const int goal : list) numbered.push_back(numbers[static_cast<std::size_t>(goal)]);
        return numbered;
    };
    for (int goal = 0; goal < whole.goals(); ++goal) {
        if (!has_goal(goal)) continue;
        numbers[static_cast<std::size_t>(goal)] = induced.problem.add_goal();
        induced.goals.push_back(goal);
        for (int choice = whole.first(goal); choice < whole.first(goal + 1); ++choice) {
            if (!has_choice(choice)) continue;
            const Alternative all = whole.alternative(choice);
            induced.problem.add_alternative(all.cost, number(all.needs, needs), number(all.provides, provides));
            induced.choices.push_back(choice);
        }
    }
    for (const int root : whole.roots())
        if (const int own = numbers[static_cast<std::size_t>(root)]; own >= 0) induced.problem.add_root(own);
    return induced;
}

std::string fault(const SearchProblem& problem) {
    for (int goal = 0; goal < problem.goals(); ++goal)
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            const std::string where = "alternative " + std::to_string(choice) + " of goal " + std::to_string(goal);
            if (!std::isfinite(alternative.cost)) return where + " has a cost that is not finite";
            for (const std::span<const int>& list : {alternative.needs, alternative.provides})
                if (!list.empty() && (list.front() < 0 || list.back() >= goal))
                    return where + " references a goal that is not lower";
            for (const int need : alternative.needs)
                if (std::binary_search(alternative.provides.begin(), alternative.provides.end(), need))
                    return where + " needs what it provides";
        }
    for (const int root : problem.roots())
        if (root < 0 || root >= problem.goals()) return "root " + std::to_string(root) + " is not a goal";
    return {};
}

std::string to_string(const SearchProblem& problem) {
    std::ostringstream text;
    const auto list = [&](std::span<const int> goals) {
        for (std::size_t i = 0; i < goals.size(); ++i) text << (i == 0 ? "" : " ") << goals[i];
    };
    for (int goal = 0; goal < problem.goals(); ++goal) {
        text << goal << ":";
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            text << " " << alternative.cost << " (";
            list(alternative.needs);
            text << "|";
            list(alternative.provides);
            text << ")";
        }
        text << "\n";
    }
    text << "roots ";
    list(problem.roots());
    text << "\n";
    return text.str();
}

}  // namespace cairn::search
