#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/presolve.hpp"
#include "selection/search/search_state.hpp"
#include "selection/search/state_dominance.hpp"
#include "selection/search/state_table.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

/// A region: a run of consecutive goals, solved alone, from the goals pending when the search enters it to the goals
/// pending below it when it leaves.
namespace cairn::search {

/// Limits and counters that all regions of a search share.
struct SearchLimits {
    std::size_t states = 0;  ///< visited so far
    std::size_t state_limit = 0;
    bool exact = true;  ///< false: something was pruned because it would have been too much work
    std::stop_token stop = {};
    bool require_exact = false;  ///< stop once something was pruned
    bool only_cheapest = false;  ///< states that no cheapest path goes through may be left out

    bool ends() const { return stop.stop_requested() || (require_exact && !exact); }
};

/// Work limits of an exact search, in pending goals of all states visited: the base of any problem, and the increment
/// for each of its goals.
inline constexpr std::size_t small_work = std::size_t{1} << 22, goal_work = 1024;

/// Work of a state beside its goals.
inline constexpr std::size_t state_work = 16;

/// Goals [low, high) in canonical form. Two regions with equal signatures differ in the numbers of their goals and
/// choices only.
struct RegionForm {
    int low = 0, high = 0;
    std::vector<int> ports;    ///< the goals below `low` that it references, in the order of first mention
    std::vector<int> choices;  ///< the choices in its sets, likewise
    std::u32string signature;
};

/// Computes the forms of regions. The problem's sets must not change meanwhile.
class RegionForms {
public:
    /// Both must outlive this object.
    RegionForms(const PresolvedProblem& presolved, const PathDag& dag);

    RegionForm of(int low, int high);

private:
    static constexpr int unseen = -1;

    void mention(std::span<const int> goals, RegionForm& form);
    void write(PathSet set, RegionForm& form);

    const PresolvedProblem& presolved_;
    const PathDag& dag_;
    // Of each goal and each set, its place in the current form.
    std::vector<int> ports_, places_;
    std::vector<PathSet> seen_, open_;
};

/// The set of paths through a region that leave the same goals pending.
struct Exit {
    State ports;  ///< pending below, by place among the ports
    PathSet set = PathDag::none;
    double cost = 0;  ///< of the cheapest path
};

/// Solves all regions of one form; solutions are memoised by the goals pending on entry.
class RegionSolver {
public:
    RegionSolver(const PresolvedProblem& presolved, PathDag& dag, RegionForm form);

    const RegionForm& form() const noexcept { return form_; }
    /// The exits reachable from `inside`, the goals pending on entry by place in the region; cheapest first. Above the
    /// state limit or the work limit of the region only the cheapest states are followed (beam search). Incomplete if
    /// the limits end it.
    const std::vector<Exit>& solve(const State& inside, SearchLimits& limits);

private:
    /// One solve(). Goals pending on entry stay pending in all states until they are decided, unless provided, so
    /// states do not store them.
    struct Pass {
        Pass(const State& inside, int low, std::size_t goals);
        std::size_t layer_of(StateView state, std::size_t above) const;

        int low;
        std::vector<bool> entered;               // goals pending on entry
        std::vector<std::size_t> entered_below;  // by layer: the next layer below with such a goal
        std::vector<StateTable> layers;          // 0: exits; i + 1: states with goal low + i next
        std::size_t work = 0;
    };
    void prune(Pass& pass, StateTable& layer, SearchLimits& limits);
    bool remove_dominated(StateTable& layer, StateDominance::Provides provides, const std::stop_token& stop);
    void expand(Pass& pass, std::size_t number, SearchLimits& limits);
    std::vector<Exit> exits_of(Pass& pass);

    const PresolvedProblem* presolved_;
    PathDag* dag_;
    RegionForm form_;
    StateTransitions transitions_;
    std::unordered_map<int, int> port_of_;
    std::map<State, std::vector<Exit>> solved_;
    std::optional<StateDominance> dominance_;
    State next_;  // scratch
};

}  // namespace cairn::search
