#pragma once

#include "selection/search/search_problem.hpp"

#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

/// Search states: the goals still to be reached by a search that visits the goals from the highest down.
namespace cairn::search {

/// Pending goals as codes `goal << 1 | provided`, descending, so that the next goal comes first. For goals in SCCs,
/// their dependences follow the codes (Dependence). Equal states have equal futures.
using State = std::u32string;
using StateView = std::u32string_view;

inline constexpr char32_t pending(int goal) { return static_cast<char32_t>(goal) << 1; }
inline constexpr char32_t provided(int goal) { return static_cast<char32_t>(goal) << 1 | 1U; }
inline constexpr int goal_of(char32_t code) { return static_cast<int>(code >> 1); }

/// A copy in the pool; valid as long as the pool.
StateView copy_to_pool(StateView state, std::pmr::memory_resource& pool);
/// The codes without the dependences.
StateView codes_of(StateView state);
/// Adds a goal; a provided one stays provided.
void add_goal(State& codes, int goal, bool is_provided);
bool is_provided(StateView codes, int goal);

/// Computes transitions between states.
class StateTransitions {
public:
    /// `sccs` as scc_of_goals(problem). Both must outlive this object.
    StateTransitions(const SearchProblem& problem, const std::vector<int>& sccs);

    /// The state after a choice for `goal`, which is higher than all other pending goals. False if the choice is not
    /// allowed: something would be provided twice, or depend on itself. Goals for which `is_stored` is false are not
    /// stored in states, since they are pending in all of them.
    template <typename IsStored>
    bool choose(StateView state, int goal, int choice, State& next, const IsStored& is_stored) {
        const Alternative alternative = problem_->alternative(choice);
        if (!begin(state, goal, alternative, next)) return false;
        for (const int need : alternative.needs)
            if (is_stored(need)) add_goal(next, need, false);
        for (const int also : alternative.provides) add_goal(next, also, true);
        finish(next);
        return true;
    }
    bool has_cycles() const noexcept { return has_cycles_; }
    /// The state after its highest goal, which is provided.
    void pass(StateView state, State& next);
    /// Splits a state into the goals for which `is_in` is true and the others; the two sets are independent.
    template <typename IsIn>
    void split(StateView state, const IsIn& is_in, State& part, State& others) {
        part.clear();
        others.clear();
        for (const char32_t code : has_cycles_ ? codes_of(state) : state)
            (is_in(goal_of(code)) ? part : others).push_back(code);
        if (!has_cycles_) return;
        read_dependences(state);
        std::vector<Dependence> all;
        all.swap(dependences_);
        for (const bool inside : {true, false}) {
            dependences_.clear();
            for (const Dependence& dependence : all) {
                if (is_in(dependence.goal) != inside) continue;
                dependences_.push_back(dependence);
                std::erase_if(dependences_.back().on, [&](int goal) { return is_in(goal) != inside; });
            }
            finish(inside ? part : others);
        }
    }

private:
    /// A provided goal, and the pending goals of its SCC that it depends on.
    struct Dependence {
        int goal;
        std::vector<int> on;  // ascending
    };

    bool begin(StateView state, int goal, const Alternative& alternative, State& next);
    void finish(State& next) const;
    bool update_dependences(int goal, const Alternative& alternative);
    void read_dependences(StateView state);
    int scc(int goal) const { return (*sccs_)[static_cast<std::size_t>(goal)]; }

    const SearchProblem* problem_;
    const std::vector<int>* sccs_;
    bool has_cycles_;
    std::vector<Dependence> dependences_;  // of the current state
};

}  // namespace cairn::search
