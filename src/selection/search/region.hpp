#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/presolve.hpp"
#include "selection/search/search_state.hpp"
#include "selection/search/state_table.hpp"

#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

/// A run of consecutive goals, solved on its own: from the goals pending when the search enters it to the goals pending
/// below it when it leaves.
namespace cairn::search {

/// What all regions of a search share.
struct SearchLimits {
    std::size_t states = 0;  ///< looked at so far
    std::size_t state_limit = 0;
    bool exact = true;  ///< false: something was left out, since it would have been too much work
    std::stop_token stop = {};
    bool only_exact = false;  ///< go no further once something was left out

    bool ends() const { return stop.stop_requested() || (only_exact && !exact); }
};

/// The work of an exact search, in pending goals of all states looked at: what any small problem may take, and so much
/// for each of its goals.
inline constexpr std::size_t small_work = std::size_t{1} << 22, goal_work = 1024;

/// What a state takes beside its goals.
inline constexpr std::size_t state_work = 16;

/// Goals [low, high) seen from inside. Two regions with equal signatures differ in the numbers of their goals and
/// choices only.
struct RegionForm {
    int low = 0, high = 0;
    std::vector<int> ports;    ///< the goals below `low` that it names, in the order of their first mention
    std::vector<int> choices;  ///< those its sets are made of, likewise
    std::u32string signature;
};

/// Tells the forms of regions. What the problem's sets are made of must not change meanwhile.
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
    // Of each goal and each set its place in the form that is being told.
    std::vector<int> ports_, places_;
    std::vector<PathSet> seen_, open_;
};

/// Ways through a region: all that leave the same goals pending.
struct Exit {
    State ports;  ///< pending below, each goal by its place among the ports
    PathSet set = PathDag::none;
    double cost = 0;  ///< of the cheapest of them
};

/// All regions of one form share one solver; solutions are kept for each set of goals it was entered with.
class RegionSolver {
public:
    RegionSolver(const PresolvedProblem& presolved, PathDag& dag, RegionForm form);

    const RegionForm& form() const noexcept { return form_; }
    /// The ways to each reachable exit, the cheapest first, for goals pending inside, each by its place in the region.
    /// With more states than the limit or more work than the region's size allows only the cheapest are followed.
    /// Incomplete where the limits end it.
    const std::vector<Exit>& solve(const State& inside, SearchLimits& limits);

private:
    /// What is pending on entry is so in all states until its turn comes, unless it is provided: they do not hold it.
    struct Pass {
        Pass(const State& inside, int low, std::size_t goals);
        std::size_t layer_of(StateView state, std::size_t above) const;

        int low;
        std::vector<bool> entered;               // goals pending on entry
        std::vector<std::size_t> entered_below;  // the layer of the next of them below each layer
        std::vector<StateTable> layers;          // 0: the exits; i + 1: those with goal low + i next
        std::size_t work = 0;
    };
    void prune_to_beam(Pass& pass, StateTable& layer, SearchLimits& limits) const;
    void expand(Pass& pass, std::size_t number, SearchLimits& limits);
    std::vector<Exit> exits_of(Pass& pass);

    const PresolvedProblem* presolved_;
    PathDag* dag_;
    RegionForm form_;
    StateTransitions transitions_;
    std::unordered_map<int, int> port_of_;
    std::map<State, std::vector<Exit>> solved_;
    State next_;  // scratch
};

}  // namespace cairn::search
