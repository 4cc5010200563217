#pragma once

#include "select/frontier.hpp"
#include "select/layer.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

/// A run of consecutive goals, solved on its own: from the goals pending when the search enters it to the goals pending
/// below it when it leaves.
namespace cairn::inline v0::select {

/// Goals [low, high) seen from inside: goals below are numbered ports in the order of their first mention, so that two
/// regions of the same make have the same form wherever they lie.
struct RegionForm {
    int low = 0, high = 0;
    std::vector<int> ports;    ///< the goal below `low` that each port stands for
    std::u32string signature;  ///< equal for regions with equal costs and structure
};

RegionForm form_of(const SearchProblem& problem, int low, int high);

/// The work of an exact search, in pending goals of all frontiers looked at: what any small problem may take, and so
/// much for each of its goals.
constexpr std::size_t small_work = std::size_t{1} << 20, goal_work = 1024;

/// Adds a goal to a frontier; a goal that is provided once stays provided.
void add_goal(Frontier& frontier, char32_t goal, bool provided);
/// Whether the goal is in it as provided.
bool is_provided(std::u32string_view frontier, char32_t goal);

/// One way through a region.
struct Exit {
    Frontier ports;  ///< what is pending below
    double cost = 0;
    std::vector<std::pair<int, int>> choices;  ///< (goal - low, alternative)
};

/// All regions of one form share one solver; solutions are kept for each set of goals it was entered with.
class RegionSolver {
public:
    RegionSolver(const SearchProblem& problem, RegionForm form) : problem_(&problem), form_(std::move(form)) {}

    /// The cheapest way to each reachable exit, for goals pending inside (codes as in Frontier, without ports).
    /// `states` counts frontiers looked at; with more than the limit of them, or more work than the region's size
    /// allows, only the cheapest are followed and `exact` becomes false.
    const std::vector<Exit>& solve(const Frontier& inside, const SearchOptions& options, std::size_t& states,
                                   bool& exact);

private:
    /// A choice, and the one made before it.
    struct Step {
        int before;  ///< its number; -1: none
        int goal, alternative;
    };
    /// Frontiers by the goal that is next: only those ahead are kept. What is pending on entry is so in all of them
    /// until its turn comes, unless it is provided: they do not hold it.
    struct Pass {
        Pass(const Frontier& inside, std::size_t ports, std::size_t goals);
        std::size_t layer_of(std::u32string_view frontier, std::size_t above) const;

        std::size_t ports;
        std::vector<bool> entered;               // goals pending on entry
        std::vector<std::size_t> entered_below;  // layer of the next of them below each layer
        std::vector<Layer> layers;               // 0: the exits; i + 1: those with goal low + i next
        std::vector<Step> steps;
        Frontier next;  // scratch
        std::size_t states = 0, work = 0;
    };
    void expand(Pass& pass, std::size_t number, const std::stop_token& stop) const;
    static int step_of(Pass& pass, const Reached& reached);
    bool narrow(Pass& pass, Layer& layer, const SearchOptions& options) const;
    std::vector<Exit> exits_of(const Pass& pass) const;

    const SearchProblem* problem_;
    RegionForm form_;
    std::unordered_map<int, char32_t> port_of_;
    std::map<Frontier, std::vector<Exit>> solved_;
};

}  // namespace cairn::inline v0::select
