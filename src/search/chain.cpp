#include "search/chain.hpp"

#include "search/beam.hpp"
#include "search/borders.hpp"
#include "search/reached.hpp"
#include "search/recurrence.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory_resource>
#include <utility>

namespace cairn::search {
namespace {

// Regions are cut where at most this many goals are needed across the cut: of each program the residual stream, a mask
// and positions; the forms of a weight that the first and the last layer share.
constexpr int max_crossing = 64;

// A border that is passed in no more states than this ends a stretch.
constexpr std::size_t few_states_across = 8;

// What may be put together at borders, in pending goals of states: in any problem, and so much for each of its goals.
// Where the ways through a region would be more, only the cheapest are followed.
constexpr std::size_t small_border_work = std::size_t{1} << 20, goal_border_work = 1024, most_ways = 256;

/// What is pending at a border, and the ways to it from one state at the border where the stretch begins.
using Border = Reached;

/// The ways through a stretch: a row for each state where it begins, a column for each state where it ends.
using Ways = std::vector<std::vector<Set>>;

class Chain {
public:
    Chain(const Reduced& reduced, Space& space, Limits& limits, bool only_cheapest, const Repeat& repeat)
        : reduced_(reduced),
          space_(space),
          limits_(limits),
          only_cheapest_(only_cheapest),
          repeat_(repeat),
          recurrence_(reduced, repeat),
          forms_(reduced, space),
          roots_(reduced.problem.roots().begin(), reduced.problem.roots().end()) {
        std::sort(roots_.begin(), roots_.end(), std::greater<>());
        roots_.erase(std::unique(roots_.begin(), roots_.end()), roots_.end());
    }

    Set paths(const std::vector<int>& cuts) {
        std::vector<Border> borders = begin({{}});
        for (std::size_t r = cuts.size() - 1; r-- > 0;) {
            if (limits_.ends()) return Space::none;
            const RegionForm form = forms_.of(cuts[r], cuts[r + 1]);
            const auto [it, fresh] = solvers_.try_emplace(form.signature, reduced_, space_, form);
            const int renamed = fresh ? -1 : rename(it->second.form(), form);
            allowed_ += goal_border_work * static_cast<std::size_t>(form.high - form.low);
            for (Border& border : borders) border = cross(border, form, it->second, renamed);
            if (to_repeat()) recurrence_.pass(form, it->second.form());
            if (r > 0 && only_cheapest_ && !to_repeat()) continue;
            const std::vector<State> states = states_of(borders);
            if (states.empty()) return Space::none;
            if (r > 0 && states.size() > few_states_across) continue;
            stretches_.push_back(end(borders, states));
            if (r > 0 && to_repeat())
                if (const auto from = recurrence_.at(cuts[r], states, stretches_.size())) repeat(*from);
            borders = begin(states);
        }
        // Without goals there is no region. At the end nothing is pending.
        if (stretches_.empty()) return Space::done;
        const Ways below = joined(0, stretches_.size());
        // What lies above the blocks that are not there lies so much further on, and what lies below does not.
        return above_.empty() ? below[0][0]
                              : through(Ways{{Space::done}}, through(above_, below, -moved_), moved_)[0][0];
    }
    bool repeated() const noexcept { return !to_repeat(); }
    std::size_t solved() const noexcept { return solvers_.size(); }
    std::size_t work() const noexcept { return work_; }

private:
    /// From a state at the upper border of a region to one at the lower.
    struct Way {
        double cost;
        Set before;
        std::size_t outside;  // what is pending outside of the region, by its place
        const Exit* exit;
    };

    std::vector<Border> begin(const std::vector<State>& states) {
        std::vector<Border> borders(states.size());
        for (std::size_t s = 0; s < states.size(); ++s) borders[s].reach(states[s], space_, Space::done);
        return borders;
    }

    static std::vector<State> states_of(const std::vector<Border>& borders) {
        std::vector<State> states;
        for (const Border& border : borders)
            for (const Border::Entry& entry : border.entries()) states.emplace_back(entry.state);
        std::sort(states.begin(), states.end());
        states.erase(std::unique(states.begin(), states.end()), states.end());
        return states;
    }

    Ways end(const std::vector<Border>& borders, const std::vector<State>& states) {
        Ways ways(borders.size(), std::vector<Set>(states.size(), Space::none));
        for (std::size_t b = 0; b < borders.size(); ++b)
            for (const auto& [state, sum] : std::as_const(borders[b]).entries()) {
                const auto column = std::lower_bound(states.begin(), states.end(), state) - states.begin();
                ways[b][static_cast<std::size_t>(column)] = space_.set_of(sum);
            }
        return ways;
    }

    /// The ways through what lies above and then through what lies below, whose choices stand for others so much
    /// further on.
    Ways through(const Ways& above, const Ways& below, int further = 0) {
        Ways ways(above.size(), std::vector<Set>(below[0].size(), Space::none));
        for (std::size_t row = 0; row < ways.size(); ++row)
            for (std::size_t column = 0; column < ways[row].size(); ++column) {
                Space::Sum sum;
                for (std::size_t s = 0; s < below.size(); ++s)
                    space_.add(sum, above[row][s], below[s][column], -1, further);
                ways[row][column] = space_.set_of(sum);
            }
        return ways;
    }

    /// The ways through stretches [first, last).
    Ways joined(std::size_t first, std::size_t last) {
        if (last - first == 1) return stretches_[first];
        const std::size_t middle = first + (last - first) / 2;
        return through(joined(first, middle), joined(middle, last));
    }

    bool to_repeat() const { return repeat_.any() && above_.empty(); }

    /// Crosses the latest block, whose stretches begin at one, as often again as blocks are not there. Each lies a
    /// block lower than the one before.
    void repeat(std::size_t from) {
        Ways block = joined(from, stretches_.size());
        above_ = joined(0, stretches_.size());
        int below = -repeat_.choices;
        for (int left = repeat_.more, blocks = 1; left > 0; left /= 2, blocks *= 2) {
            if (left % 2 != 0) {
                above_ = through(above_, block, below);
                below -= blocks * repeat_.choices;
            }
            if (left > 1) block = through(block, block, -blocks * repeat_.choices);
        }
        moved_ = repeat_.more * repeat_.choices;
        stretches_.clear();
    }

    /// Follows every state at the upper border of a region through it.
    Border cross(const Border& above, const RegionForm& form, RegionSolver& solver, int renamed) {
        State roots;
        const auto first = std::lower_bound(roots_.begin(), roots_.end(), form.high - 1, std::greater<>());
        for (auto root = first; root != roots_.end() && *root >= form.low; ++root)
            roots.push_back(pending(*root - form.low));
        std::vector<Way> ways;
        std::pmr::monotonic_buffer_resource pool;
        std::vector<StateView> outsides;
        State inside, outside;
        for (const auto& [state, sum] : above.entries()) {
            if (limits_.ends()) return {};
            const Set before = space_.set_of(sum);
            inside = roots;
            outside.clear();
            for (const char32_t code : state) {
                if (goal_of(code) >= form.low)
                    add_goal(inside, goal_of(code) - form.low, (code & 1U) != 0);
                else
                    outside.push_back(code);
            }
            for (const Exit& exit : solver.solve(inside, limits_))
                ways.push_back({sum.cost + exit.cost, before, outsides.size(), &exit});
            outsides.push_back(kept(outside, pool));
        }
        std::size_t to_come = 0;
        for (const Way& way : ways) to_come += outsides[way.outside].size() + way.exit->ports.size() + state_work;
        if (work_ + to_come > allowed_) leave_cheapest(ways);
        Border below;
        State next;
        for (const Way& way : ways) {
            if (limits_.ends()) return {};
            next = outsides[way.outside];
            bool is_twice = false;
            for (const char32_t code : way.exit->ports) {
                const int goal = form.ports[static_cast<std::size_t>(goal_of(code))];
                is_twice = is_twice || ((code & 1U) != 0 && is_provided(outsides[way.outside], goal));
                add_goal(next, goal, (code & 1U) != 0);
            }
            work_ += next.size() + state_work;
            if (!is_twice) below.reach(next, space_, way.before, way.exit->set, renamed);
        }
        return below;
    }

    /// Leaves few ways: a border has no more states than these.
    void leave_cheapest(std::vector<Way>& ways) {
        if (ways.size() <= most_ways) return;
        std::vector<Way> followed;
        for (const std::size_t place :
             cheapest_places(ways.size(), most_ways, [&](std::size_t w) { return ways[w].cost; }))
            followed.push_back(ways[place]);
        ways = std::move(followed);
        limits_.exact = false;
    }

    /// What the choices of one region are called in another one of its form.
    int rename(const RegionForm& solved, const RegionForm& form) {
        std::vector<std::pair<int, int>> names;
        for (std::size_t i = 0; i < form.choices.size(); ++i) names.emplace_back(solved.choices[i], form.choices[i]);
        return space_.rename(std::move(names));
    }

    const Reduced& reduced_;
    Space& space_;
    Limits& limits_;
    bool only_cheapest_;
    const Repeat& repeat_;
    Recurrence recurrence_;
    Forms forms_;
    std::vector<int> roots_;  // descending
    std::map<std::u32string, RegionSolver> solvers_;
    std::vector<Ways> stretches_;
    Ways above_;     // through all above the blocks that are not there, and through these
    int moved_ = 0;  // by so much the choices above them
    std::size_t work_ = 0, allowed_ = small_border_work;  // in pending goals of states at borders
};

}  // namespace

std::vector<int> cuts_of(const Problem& problem, const std::vector<int>& circles, bool share, int closest) {
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
        Borders borders(static_cast<std::size_t>(count));
        const auto pass = [&](int first, int last, int weight) {
            borders.pass(static_cast<std::size_t>(first), static_cast<std::size_t>(last), weight);
        };
        std::map<int, std::pair<int, int>> extents;  // of circles, and of what provides their goals
        const auto extend = [&](int member, int goal) {
            if (const int circle = circles[static_cast<std::size_t>(member)]; circle >= 0)
                extents.try_emplace(circle, goal, goal).first->second.second = goal;
        };
        for (int goal = 0; goal < count; ++goal) {
            pass(goal, last_user[static_cast<std::size_t>(goal)], 1);
            extend(goal, goal);
            for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice)
                for (const int also : problem.alternative(choice).provides) extend(also, goal);
        }
        for (const auto& [circle, extent] : extents) pass(extent.first, extent.second, max_crossing + 1);
        const Borders::Narrow narrow = borders.narrow();
        for (const std::size_t border : narrow.borders)
            if (const int cut = static_cast<int>(border);
                narrow.passing <= max_crossing && cut - cuts.back() >= closest)
                cuts.push_back(cut);
    }
    cuts.push_back(count);
    return cuts;
}

Chained paths_of_chain(const Reduced& reduced, Space& space, Limits& limits, const std::vector<int>& cuts,
                       bool only_cheapest, const Repeat& repeat) {
    Chain chain(reduced, space, limits, only_cheapest, repeat);
    const Set paths = chain.paths(cuts);
    return {paths, chain.solved(), chain.work(), chain.repeated()};
}

}  // namespace cairn::search
