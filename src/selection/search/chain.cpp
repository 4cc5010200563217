#include "selection/search/chain.hpp"

#include "selection/search/beam.hpp"
#include "selection/search/cut_width.hpp"
#include "selection/search/state_dominance.hpp"
#include "selection/search/state_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory_resource>
#include <optional>
#include <utility>

namespace cairn::search {
namespace {

// Maximum cut width of a cut between regions: of each program the residual stream, a mask and positions; and the forms
// of a weight that the first and the last layer share.
constexpr int max_crossing = 64;

// Minimum number of goals in a region.
constexpr int min_region_size = 4;

// A border with at most this many states ends a segment.
constexpr std::size_t max_states_across = 8;

// Limits on the work at borders, in pending goals of states: the base of any problem, and the increment for each goal.
// Beyond them, a region with more transitions than the maximum is pruned to the cheapest.
constexpr std::size_t small_border_work = std::size_t{1} << 20, goal_border_work = 1024, max_transitions = 256;

// Borders with more states than this are searched for dominated ones.
constexpr std::size_t many_border_states = 32;

/// The states at a border, with the paths to each from one state at the border where the segment begins.
using Border = StateTable;

/// The paths through a segment: a row for each state where it begins, a column for each state where it ends.
using TransitionMatrix = std::vector<std::vector<PathSet>>;

class Chain {
public:
    Chain(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits, bool only_cheapest)
        : presolved_(presolved),
          dag_(dag),
          limits_(limits),
          only_cheapest_(only_cheapest),
          has_cycles_(std::any_of(presolved.sccs.begin(), presolved.sccs.end(), [](int scc) { return scc >= 0; })),
          forms_(presolved, dag),
          roots_(presolved.problem.roots().begin(), presolved.problem.roots().end()) {
        std::sort(roots_.begin(), roots_.end(), std::greater<>());
        roots_.erase(std::unique(roots_.begin(), roots_.end()), roots_.end());
    }

    PathSet paths(const std::vector<int>& cuts) {
        std::vector<Border> borders = begin({{}});
        for (std::size_t r = cuts.size() - 1; r-- > 0;) {
            if (limits_.ends()) return PathDag::none;
            const RegionForm form = forms_.of(cuts[r], cuts[r + 1]);
            const auto [it, fresh] = solvers_.try_emplace(form.signature, presolved_, dag_, form);
            const int renamed = fresh ? -1 : add_renaming(it->second.form(), form);
            allowed_ += goal_border_work * static_cast<std::size_t>(form.high - form.low);
            for (Border& border : borders) border = cross(border, form, it->second, renamed);
            if (r > 0 && only_cheapest_) continue;
            const std::vector<State> states = states_of(borders);
            if (states.empty()) return PathDag::none;
            if (r > 0 && states.size() > max_states_across) continue;
            segments_.push_back(end(borders, states));
            borders = begin(states);
        }
        // Without goals there is no region. At the end nothing is pending.
        if (segments_.empty()) return PathDag::empty_path;
        return product_of_segments(0, segments_.size())[0][0];
    }
    std::size_t solved() const noexcept { return solvers_.size(); }
    std::size_t work() const noexcept { return work_; }

private:
    /// From a state at the upper border of a region to one at the lower.
    struct Transition {
        double cost;
        PathSet before;
        std::size_t outside;  // index of the goals pending outside the region
        const Exit* exit;
    };

    std::vector<Border> begin(const std::vector<State>& states) {
        std::vector<Border> borders(states.size());
        for (std::size_t s = 0; s < states.size(); ++s) borders[s].reach(states[s], dag_, PathDag::empty_path);
        return borders;
    }

    static std::vector<State> states_of(const std::vector<Border>& borders) {
        std::vector<State> states;
        for (const Border& border : borders)
            for (const Border::ReachedState& entry : border.entries()) states.emplace_back(entry.state);
        std::sort(states.begin(), states.end());
        states.erase(std::unique(states.begin(), states.end()), states.end());
        return states;
    }

    TransitionMatrix end(const std::vector<Border>& borders, const std::vector<State>& states) {
        TransitionMatrix transitions(borders.size(), std::vector<PathSet>(states.size(), PathDag::none));
        for (std::size_t b = 0; b < borders.size(); ++b)
            for (const auto& [state, sum] : std::as_const(borders[b]).entries()) {
                const auto column = std::lower_bound(states.begin(), states.end(), state) - states.begin();
                transitions[b][static_cast<std::size_t>(column)] = dag_.set_of(sum);
            }
        return transitions;
    }

    /// The matrix product: paths through the upper segment, then the lower one.
    TransitionMatrix multiply(const TransitionMatrix& above, const TransitionMatrix& below) {
        TransitionMatrix transitions(above.size(), std::vector<PathSet>(below[0].size(), PathDag::none));
        for (std::size_t row = 0; row < transitions.size(); ++row)
            for (std::size_t column = 0; column < transitions[row].size(); ++column) {
                PathDag::Sum sum;
                for (std::size_t s = 0; s < below.size(); ++s) dag_.add(sum, above[row][s], below[s][column]);
                transitions[row][column] = dag_.set_of(sum);
            }
        return transitions;
    }

    /// The paths through segments [first, last).
    TransitionMatrix product_of_segments(std::size_t first, std::size_t last) {
        if (last - first == 1) return segments_[first];
        const std::size_t middle = first + (last - first) / 2;
        return multiply(product_of_segments(first, middle), product_of_segments(middle, last));
    }

    /// Follows every state at the upper border of a region through it.
    Border cross(const Border& above, const RegionForm& form, RegionSolver& solver, int renamed) {
        State roots;
        const auto first = std::lower_bound(roots_.begin(), roots_.end(), form.high - 1, std::greater<>());
        for (auto root = first; root != roots_.end() && *root >= form.low; ++root)
            roots.push_back(pending(*root - form.low));
        std::vector<Transition> transitions;
        std::pmr::monotonic_buffer_resource pool;
        std::vector<StateView> outsides;
        State inside, outside;
        for (const auto& [state, sum] : above.entries()) {
            if (limits_.ends()) return {};
            const PathSet before = dag_.set_of(sum);
            inside = roots;
            outside.clear();
            for (const char32_t code : state) {
                if (goal_of(code) >= form.low)
                    add_goal(inside, goal_of(code) - form.low, (code & 1U) != 0);
                else
                    outside.push_back(code);
            }
            for (const Exit& exit : solver.solve(inside, limits_))
                transitions.push_back({sum.cost + exit.cost, before, outsides.size(), &exit});
            outsides.push_back(copy_to_pool(outside, pool));
        }
        std::size_t expected_work = 0;
        for (const Transition& transition : transitions)
            expected_work += outsides[transition.outside].size() + transition.exit->ports.size() + state_work;
        if (work_ + expected_work > allowed_) prune_to_cheapest(transitions);
        Border below;
        State next;
        for (const Transition& transition : transitions) {
            if (limits_.ends()) return {};
            next = outsides[transition.outside];
            bool is_provided_twice = false;
            for (const char32_t code : transition.exit->ports) {
                const int goal = form.ports[static_cast<std::size_t>(goal_of(code))];
                is_provided_twice =
                    is_provided_twice || ((code & 1U) != 0 && is_provided(outsides[transition.outside], goal));
                add_goal(next, goal, (code & 1U) != 0);
            }
            work_ += next.size() + state_work;
            if (!is_provided_twice) below.reach(next, dag_, transition.before, transition.exit->set, renamed);
        }
        remove_dominated(below);
        return below;
    }

    /// Where something was pruned before, also states that are likely to be dominated.
    void remove_dominated(Border& border) {
        if (!only_cheapest_ || has_cycles_ || border.entries().size() <= many_border_states) return;
        if (!dominance_) dominance_.emplace(presolved_.problem, 0, presolved_.problem.goals(), limits_.stop);
        border.keep(dominance_->undominated(border.entries(), StateDominance::Provides::counted));
        if (limits_.exact) return;
        border.keep(dominance_->undominated(border.entries(), StateDominance::Provides::ignored));
    }

    /// Keeps the cheapest transitions: a border has no more states than these.
    void prune_to_cheapest(std::vector<Transition>& transitions) {
        if (transitions.size() <= max_transitions) return;
        std::vector<Transition> followed;
        for (const std::size_t index :
             cheapest_indices(transitions.size(), max_transitions, [&](std::size_t w) { return transitions[w].cost; }))
            followed.push_back(transitions[index]);
        transitions = std::move(followed);
        limits_.exact = false;
    }

    /// The renaming of the choices of the solved region to those of another one with the same form.
    int add_renaming(const RegionForm& solved, const RegionForm& form) {
        std::vector<std::pair<int, int>> names;
        for (std::size_t i = 0; i < form.choices.size(); ++i) names.emplace_back(solved.choices[i], form.choices[i]);
        return dag_.add_renaming(std::move(names));
    }

    const PresolvedProblem& presolved_;
    PathDag& dag_;
    SearchLimits& limits_;
    bool only_cheapest_, has_cycles_;
    RegionForms forms_;
    std::vector<int> roots_;  // descending
    std::map<std::u32string, RegionSolver> solvers_;
    std::vector<TransitionMatrix> segments_;
    std::optional<StateDominance> dominance_;
    std::size_t work_ = 0, allowed_ = small_border_work;  // in pending goals of states at borders
};

}  // namespace

std::vector<int> cuts_of(const SearchProblem& problem, const std::vector<int>& sccs, bool share) {
    const int count = problem.goals();
    std::vector<int> cuts{0};
    if (share) {
        std::vector<int> last_user(static_cast<std::size_t>(count), 0);
        for (int goal = 0; goal < count; ++goal)
            for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
                const Alternative alternative = problem.alternative(choice);
                for (const auto& goals : {alternative.needs, alternative.provides})
                    for (const int below : goals) last_user[static_cast<std::size_t>(below)] = goal;
            }
        CutWidths borders(static_cast<std::size_t>(count));
        const auto pass = [&](int first, int last, int weight) {
            borders.pass(static_cast<std::size_t>(first), static_cast<std::size_t>(last), weight);
        };
        std::map<int, std::pair<int, int>> extents;  // of SCCs, and of the goals that provide theirs
        const auto extend = [&](int member, int goal) {
            if (const int scc = sccs[static_cast<std::size_t>(member)]; scc >= 0)
                extents.try_emplace(scc, goal, goal).first->second.second = goal;
        };
        for (int goal = 0; goal < count; ++goal) {
            pass(goal, last_user[static_cast<std::size_t>(goal)], 1);
            extend(goal, goal);
            for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice)
                for (const int also : problem.alternative(choice).provides) extend(also, goal);
        }
        for (const auto& [scc, extent] : extents) pass(extent.first, extent.second, max_crossing + 1);
        const CutWidths::NarrowCuts narrow = borders.narrow();
        for (const std::size_t border : narrow.borders)
            if (const int cut = static_cast<int>(border);
                narrow.width <= max_crossing && cut - cuts.back() >= min_region_size)
                cuts.push_back(cut);
    }
    cuts.push_back(count);
    return cuts;
}

ChainResult paths_of_chain(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits,
                           const std::vector<int>& cuts, bool only_cheapest) {
    Chain chain(presolved, dag, limits, only_cheapest);
    const PathSet paths = chain.paths(cuts);
    return {paths, chain.solved(), chain.work()};
}

}  // namespace cairn::search
