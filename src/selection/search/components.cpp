#include "selection/search/components.hpp"

#include <algorithm>
#include <memory_resource>
#include <unordered_map>

namespace cairn::search {
namespace {

// Work of a component beside its goals.
constexpr std::size_t component_work = 8;

/// Connectivity of goals through goals no higher than themselves. The highest goal of a connected set is above all
/// others, so the sets are the subtrees of a forest.
class Connected {
public:
    explicit Connected(const SearchProblem& problem);
    /// True if a goal is connected with the higher goal `top` through goals no higher than `top`.
    bool is_connected(std::size_t top, std::size_t goal) const {
        return preorder_[goal] >= preorder_[top] && preorder_[goal] < preorder_[top] + size_[top];
    }

private:
    std::vector<std::size_t> preorder_, size_;  // of each subtree: its position in preorder, and its size
};

Connected::Connected(const SearchProblem& problem)
    : preorder_(static_cast<std::size_t>(problem.goals())), size_(preorder_.size(), 1) {
    const std::size_t count = preorder_.size();
    std::vector<std::size_t> above(count, count), link(count);
    const auto top_of = [&](std::size_t goal) {
        while (link[goal] != goal) goal = link[goal] = link[link[goal]];
        return goal;
    };
    for (std::size_t g = 0; g < count; ++g) {
        link[g] = g;
        for (int choice = problem.first(static_cast<int>(g)); choice < problem.first(static_cast<int>(g) + 1);
             ++choice) {
            const Alternative alternative = problem.alternative(choice);
            for (const auto& goals : {alternative.needs, alternative.provides})
                for (const int goal : goals)
                    if (const std::size_t top = top_of(static_cast<std::size_t>(goal)); top != g) {
                        link[top] = above[top] = g;
                        size_[g] += size_[top];
                    }
        }
    }
    std::vector<std::size_t> next(count + 1, 0);
    for (std::size_t g = count; g-- > 0;) {
        preorder_[g] = next[above[g]];
        next[above[g]] += size_[g];
        next[g] = preorder_[g] + 1;
    }
}

class ComponentSearch {
public:
    ComponentSearch(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits)
        : presolved_(presolved),
          problem_(presolved.problem),
          dag_(dag),
          limits_(limits),
          connected_(problem_),
          transitions_(problem_, presolved.sccs),
          highest_(static_cast<std::size_t>(problem_.goals()), none) {}

    std::optional<PathSet> run() {
        State roots;
        for (const int root : problem_.roots()) add_goal(roots, root, false);
        const Branch start = split(roots, none);
        for (std::size_t g = highest_.size(); g-- > 0;)
            for (int component = highest_[g]; component != none; component = at(component).next)
                if (limits_.stop.stop_requested() || !expand(component)) return std::nullopt;
        for (const int first : highest_)
            for (int component = first; component != none; component = at(component).next)
                at(component).set = set_of(at(component));
        limits_.states += components_.size();
        return remaining_product(start);
    }

private:
    static constexpr int none = -1;

    /// A choice, and the components that remain after it.
    struct Branch {
        int choice;
        std::size_t first, end;  // in `remaining_`
    };
    /// Pending goals of one connected set; the highest is not provided.
    struct Component {
        StateView state;
        int next;                                    // of the components with the same highest goal
        std::size_t first_branch = 0, branches = 0;  // in `branches_`
        PathSet set = PathDag::none;
    };

    Component& at(int component) { return components_[static_cast<std::size_t>(component)]; }
    Branch split(StateView state, int choice);
    int component_of(StateView state);
    bool expand(int component);
    PathSet set_of(const Component& component);
    PathSet remaining_product(const Branch& branch);

    const PresolvedProblem& presolved_;
    const SearchProblem& problem_;
    PathDag& dag_;
    SearchLimits& limits_;
    Connected connected_;
    StateTransitions transitions_;
    std::vector<int> highest_;  // by goal: a component in which it is the highest
    std::size_t work_ = 0;
    std::pmr::monotonic_buffer_resource pool_;
    std::vector<Component> components_;
    std::pmr::unordered_map<StateView, int> index_{&pool_};
    std::vector<Branch> branches_;
    std::vector<int> remaining_;
    State rest_, passed_, component_;  // scratch
    std::vector<PathSet> sets_;        // scratch
};

/// Splits off the highest goal with all goals connected to it, then continues with the rest. A provided goal is dropped
/// once it is the highest.
ComponentSearch::Branch ComponentSearch::split(StateView state, int choice) {
    Branch branch{choice, remaining_.size(), 0};
    rest_ = state;
    while (!rest_.empty()) {
        const char32_t top = rest_.front();
        work_ += rest_.size() + component_work;
        if ((top & 1U) != 0) {
            transitions_.pass(rest_, passed_);
            rest_.swap(passed_);
            continue;
        }
        transitions_.split(
            rest_,
            [&](int goal) {
                return connected_.is_connected(static_cast<std::size_t>(goal_of(top)), static_cast<std::size_t>(goal));
            },
            component_, passed_);
        rest_.swap(passed_);
        remaining_.push_back(component_of(component_));
    }
    branch.end = remaining_.size();
    return branch;
}

int ComponentSearch::component_of(StateView state) {
    if (const auto known = index_.find(state); known != index_.end()) return known->second;
    const auto made = static_cast<int>(components_.size());
    int& first = highest_[static_cast<std::size_t>(goal_of(state.front()))];
    components_.push_back({copy_to_pool(state, pool_), first});
    first = made;
    index_.emplace(components_.back().state, made);
    return made;
}

/// Splits the remainder of a component after each alternative of its highest goal. False if that became too much work.
bool ComponentSearch::expand(int component) {
    const StateView state = at(component).state;
    const int top = goal_of(state.front());
    // The limit grows with each goal passed: a problem that does not decompose exceeds it close to its top.
    const std::size_t max_work = small_work + goal_work * (highest_.size() - static_cast<std::size_t>(top));
    if (components_.size() > limits_.state_limit || work_ > max_work) return false;
    const std::size_t first_branch = branches_.size();
    State next;
    for (int choice = problem_.first(top); choice < problem_.first(top + 1); ++choice)
        if (transitions_.choose(state, top, choice, next, [](int) { return true; }))
            branches_.push_back(split(next, choice));
    at(component).first_branch = first_branch;
    at(component).branches = branches_.size() - first_branch;
    return true;
}

PathSet ComponentSearch::remaining_product(const Branch& branch) {
    sets_.clear();
    for (std::size_t i = branch.first; i < branch.end; ++i) sets_.push_back(at(remaining_[i]).set);
    return dag_.product(sets_);
}

/// The sets of all remaining components are known: their goals are lower.
PathSet ComponentSearch::set_of(const Component& component) {
    PathDag::Sum sum;
    for (std::size_t w = component.first_branch; w < component.first_branch + component.branches; ++w)
        dag_.add(sum, presolved_.sets[static_cast<std::size_t>(branches_[w].choice)], remaining_product(branches_[w]));
    return dag_.set_of(sum);
}

}  // namespace

std::optional<PathSet> paths_by_components(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits) {
    return ComponentSearch(presolved, dag, limits).run();
}

}  // namespace cairn::search
