#include "selection/search/region.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace cairn::search {
namespace {

// A region gets the base work limit as long as at most this many states were visited in total.
constexpr std::size_t few_states = 200'000;

// Layers with at least this many states are searched for dominated ones.
constexpr std::size_t many_states = 64;

void append_number(std::u32string& out, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    out.push_back(static_cast<char32_t>(bits >> 32));
    out.push_back(static_cast<char32_t>(bits));
}

/// Appends the rank order of the choices: paths of equal costs are ordered by choices.
void append_order(std::u32string& out, const std::vector<int>& choices) {
    const std::size_t begin = out.size();
    for (std::size_t i = 0; i < choices.size(); ++i) out.push_back(static_cast<char32_t>(i));
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
              [&](char32_t a, char32_t b) { return choices[a] < choices[b]; });
}

}  // namespace

RegionForms::RegionForms(const PresolvedProblem& presolved, const PathDag& dag)
    : presolved_(presolved),
      dag_(dag),
      ports_(static_cast<std::size_t>(presolved.problem.goals()), unseen),
      places_(dag.size(), unseen) {}

RegionForm RegionForms::of(int low, int high) {
    RegionForm form{low, high, {}, {}, {}};
    const SearchProblem& problem = presolved_.problem;
    std::unordered_map<int, std::size_t> sccs;  // by the order of first mention
    for (int goal = high - 1; goal >= low; --goal) {
        if (const int scc = presolved_.sccs[static_cast<std::size_t>(goal)]; scc >= 0)
            form.signature.push_back(static_cast<char32_t>(sccs.try_emplace(scc, sccs.size() + 1).first->second));
        else
            form.signature.push_back(0);
        form.signature.push_back(static_cast<char32_t>(problem.first(goal + 1) - problem.first(goal)));
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            append_number(form.signature, alternative.cost);
            mention(alternative.needs, form);
            mention(alternative.provides, form);
            write(presolved_.sets[static_cast<std::size_t>(choice)], form);
        }
    }
    append_order(form.signature, form.choices);
    for (const int port : form.ports) ports_[static_cast<std::size_t>(port)] = unseen;
    for (const PathSet set : seen_) places_[static_cast<std::size_t>(set)] = unseen;
    seen_.clear();
    return form;
}

void RegionForms::mention(std::span<const int> goals, RegionForm& form) {
    form.signature.push_back(static_cast<char32_t>(goals.size()));
    for (const int goal : goals) {
        if (goal >= form.low) {
            form.signature.push_back(static_cast<char32_t>(2 * (goal - form.low)));
            continue;
        }
        int& place = ports_[static_cast<std::size_t>(goal)];
        if (place == unseen) {
            place = static_cast<int>(form.ports.size());
            form.ports.push_back(goal);
        }
        form.signature.push_back(static_cast<char32_t>(2 * place + 1));
    }
}

/// Appends the structure of a set: choices by their costs, and repeated subsets by their place.
void RegionForms::write(PathSet set, RegionForm& form) {
    for (open_.assign(1, set); !open_.empty();) {
        const PathSet top = open_.back();
        open_.pop_back();
        int& place = places_[static_cast<std::size_t>(top)];
        if (place != unseen) {
            form.signature.push_back(U'=');
            form.signature.push_back(static_cast<char32_t>(place));
            continue;
        }
        place = static_cast<int>(seen_.size());
        seen_.push_back(top);
        if (dag_.choice_of(top) >= 0) {
            form.signature.push_back(U'.');
            append_number(form.signature, dag_.cost(top));
            form.choices.push_back(dag_.choice_of(top));
            continue;
        }
        form.signature.push_back(U'+');
        for (int p = dag_.first_product(top); p >= 0; p = dag_.product_at(p).next) {
            form.signature.push_back(U'*');
            open_.push_back(dag_.product_at(p).first);
            open_.push_back(dag_.product_at(p).second);
        }
    }
}

RegionSolver::Pass::Pass(const State& inside, int lowest, std::size_t goals)
    : low(lowest), entered(goals, false), entered_below(goals + 2, 0), layers(goals + 1) {
    for (const char32_t code : inside) entered[static_cast<std::size_t>(goal_of(code))] = (code & 1U) == 0;
    for (std::size_t layer = 1; layer < entered_below.size(); ++layer)
        entered_below[layer] = layer >= 2 && entered[layer - 2] ? layer - 1 : entered_below[layer - 1];
}

/// The layer of a state reached from the layer `above`.
std::size_t RegionSolver::Pass::layer_of(StateView state, std::size_t above) const {
    const bool is_inside = !state.empty() && goal_of(state.front()) >= low;
    return std::max(entered_below[above], is_inside ? static_cast<std::size_t>(goal_of(state.front()) - low) + 1 : 0);
}

RegionSolver::RegionSolver(const PresolvedProblem& presolved, PathDag& dag, RegionForm form)
    : presolved_(&presolved), dag_(&dag), form_(std::move(form)), transitions_(presolved.problem, presolved.sccs) {
    for (std::size_t p = 0; p < form_.ports.size(); ++p) port_of_[form_.ports[p]] = static_cast<int>(p);
}

/// Expands the states at goal low + number by all its choices.
void RegionSolver::expand(Pass& pass, std::size_t number, SearchLimits& limits) {
    const int goal = form_.low + static_cast<int>(number);
    const SearchProblem& problem = presolved_->problem;
    const auto is_stored = [&](int need) {
        return need < form_.low || !pass.entered[static_cast<std::size_t>(need - form_.low)];
    };
    const auto reach = [&](PathSet before, PathSet chosen) {
        pass.work += next_.size() + state_work;
        if (pass.layers[pass.layer_of(next_, number + 1)].reach(next_, *dag_, before, chosen)) ++limits.states;
    };
    for (const StateTable::ReachedState& entry : pass.layers[number + 1].entries()) {
        if (limits.ends()) return;
        const PathSet before = dag_->set_of(entry.sum);
        if (!entry.state.empty() && entry.state.front() == provided(goal)) {
            transitions_.pass(entry.state, next_);
            reach(before, PathDag::empty_path);
            continue;
        }
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice)
            if (transitions_.choose(entry.state, goal, choice, next_, is_stored))
                reach(before, presolved_->sets[static_cast<std::size_t>(choice)]);
    }
}

/// True if any was removed.
bool RegionSolver::remove_dominated(StateTable& layer, StateDominance::Provides provides, const std::stop_token& stop) {
    if (!dominance_) dominance_.emplace(presolved_->problem, form_.low, form_.high, stop);
    const std::size_t before = layer.entries().size();
    layer.keep(dominance_->undominated(layer.entries(), provides));
    return layer.entries().size() < before;
}

/// Removes dominated states, and keeps the cheapest if the region has become too much work.
void RegionSolver::prune(Pass& pass, StateTable& layer, SearchLimits& limits) {
    const bool may_be_dominated =
        limits.only_cheapest && !transitions_.has_cycles() && layer.entries().size() >= many_states;
    if (may_be_dominated) remove_dominated(layer, StateDominance::Provides::counted, limits.stop);
    const auto goals = static_cast<std::size_t>(form_.high - form_.low);
    const std::size_t max_work = goal_work * goals + (limits.states <= few_states ? small_work : 0);
    if (limits.states <= limits.state_limit && pass.work <= max_work) return;
    bool is_pruned = may_be_dominated && remove_dominated(layer, StateDominance::Provides::ignored, limits.stop);
    const auto remaining = [&](StateView state) { return dominance_ ? dominance_->remaining(state) : 0; };
    if (layer.prune_to_beam(remaining)) is_pruned = true;
    if (is_pruned) limits.exact = false;
}

std::vector<Exit> RegionSolver::exits_of(Pass& pass) {
    const std::span<StateTable::ReachedState> entries = pass.layers[0].entries();
    std::stable_sort(
        entries.begin(), entries.end(),
        [](const StateTable::ReachedState& a, const StateTable::ReachedState& b) { return a.sum.cost < b.sum.cost; });
    std::vector<Exit> exits;
    for (const StateTable::ReachedState& entry : entries) {
        Exit exit;
        for (const char32_t code : entry.state) add_goal(exit.ports, port_of_.at(goal_of(code)), (code & 1U) != 0);
        exit.set = dag_->set_of(entry.sum);
        exit.cost = entry.sum.cost;
        exits.push_back(std::move(exit));
    }
    return exits;
}

const std::vector<Exit>& RegionSolver::solve(const State& inside, SearchLimits& limits) {
    const auto [it, fresh] = solved_.try_emplace(inside);
    if (!fresh) return it->second;
    const auto goals = static_cast<std::size_t>(form_.high - form_.low);
    Pass pass(inside, form_.low, goals);
    State start;
    for (const char32_t code : inside)
        if ((code & 1U) != 0) start.push_back(provided(goal_of(code) + form_.low));
    pass.layers[pass.layer_of(start, goals + 1)].reach(start, *dag_, PathDag::empty_path, PathDag::empty_path);
    ++limits.states;
    for (std::size_t number = goals; number-- > 0;) {
        prune(pass, pass.layers[number + 1], limits);
        expand(pass, number, limits);
        pass.layers[number + 1].clear();
    }
    it->second = exits_of(pass);
    return it->second;
}

}  // namespace cairn::search
