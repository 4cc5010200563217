#include "select/region.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <cstring>

namespace cairn::inline v0::select {
namespace {

// Frontiers kept per goal once a region has outgrown the limit: so many, and no more than so many pending goals in all.
constexpr std::size_t beam_width = 512, beam_work = 1024;

// A small region takes its work as long as no more frontiers than this were looked at in all.
constexpr std::size_t few_frontiers = 200'000;

// What a frontier takes beside its goals.
constexpr std::size_t frontier_work = 16;

void append_number(std::u32string& out, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    out.push_back(static_cast<char32_t>(bits >> 32));
    out.push_back(static_cast<char32_t>(bits));
}

}  // namespace

void add_goal(Frontier& frontier, char32_t goal, bool provided) {
    const char32_t code = goal << 1;
    const auto at = std::lower_bound(frontier.begin(), frontier.end(), code | 1U, std::greater<>());
    if (at != frontier.end() && (*at >> 1) == goal) {
        if (provided) *at |= 1U;
        return;
    }
    frontier.insert(at, code | (provided ? 1U : 0U));
}

bool is_provided(std::u32string_view frontier, char32_t goal) {
    return std::binary_search(frontier.begin(), frontier.end(), (goal << 1) | 1U, std::greater<>());
}

RegionForm form_of(const SearchProblem& problem, int low, int high) {
    RegionForm form{low, high, {}, {}};
    std::unordered_map<int, int> ports;
    const auto mention = [&](const Goals& goals) {
        form.signature.push_back(static_cast<char32_t>(goals.size()));
        for (const int goal : goals) {
            if (goal >= low) {
                form.signature.push_back(static_cast<char32_t>(2 * (goal - low)));
                continue;
            }
            const auto [it, fresh] = ports.try_emplace(goal, static_cast<int>(form.ports.size()));
            if (fresh) form.ports.push_back(goal);
            form.signature.push_back(static_cast<char32_t>(2 * it->second + 1));
        }
    };
    for (int goal = high - 1; goal >= low; --goal) {
        const auto& alternatives = problem.goals[static_cast<std::size_t>(goal)];
        form.signature.push_back(static_cast<char32_t>(alternatives.size()));
        for (const Alternative& alternative : alternatives) {
            append_number(form.signature, alternative.cost);
            mention(alternative.needs);
            mention(alternative.provides);
        }
    }
    return form;
}

int RegionSolver::step_of(Pass& pass, const Reached& reached) {
    if (reached.alternative < 0) return reached.before;
    pass.steps.push_back({reached.before, reached.goal, reached.alternative});
    return static_cast<int>(pass.steps.size()) - 1;
}

RegionSolver::Pass::Pass(const Frontier& inside, std::size_t port_count, std::size_t goals)
    : ports(port_count), entered(goals, false), entered_below(goals + 2, 0), layers(goals + 1) {
    Frontier provided;
    for (const char32_t code : inside) {
        if ((code & 1U) != 0)
            provided.push_back(code);
        else
            entered[(code >> 1) - ports] = true;
    }
    for (std::size_t layer = 1; layer < entered_below.size(); ++layer)
        entered_below[layer] = layer >= 2 && entered[layer - 2] ? layer - 1 : entered_below[layer - 1];
    layers[layer_of(provided, goals + 1)].reach(provided, {});
    ++states;
}

/// The layer of a frontier reached from the one above.
std::size_t RegionSolver::Pass::layer_of(std::u32string_view frontier, std::size_t above) const {
    const std::size_t highest = frontier.empty() ? 0 : (frontier.front() >> 1) + 1;
    return std::max(entered_below[above], highest <= ports ? 0 : highest - ports);
}

/// Makes the choices for goal low + number.
void RegionSolver::expand(Pass& pass, std::size_t number, const std::stop_token& stop) const {
    const auto port_count = static_cast<char32_t>(form_.ports.size());
    const int goal = form_.low + static_cast<int>(number);
    const auto code_of = [&](int target) {
        return target >= form_.low ? port_count + static_cast<char32_t>(target - form_.low) : port_of_.at(target);
    };
    const auto reach = [&](std::u32string_view next, const Reached& reached) {
        pass.work += next.size() + frontier_work;
        if (pass.layers[pass.layer_of(next, number + 1)].reach(next, reached)) ++pass.states;
    };
    const auto& alternatives = problem_->goals[static_cast<std::size_t>(goal)];
    for (const auto& [frontier, reached] : pass.layers[number + 1].entries()) {
        if (stop.stop_requested()) throw Cancelled("select");
        const int before = step_of(pass, reached);
        const bool is_held = !frontier.empty() && frontier.front() >> 1 == code_of(goal);
        const std::u32string_view rest = frontier.substr(is_held ? 1 : 0);
        if (is_held && (frontier.front() & 1U) != 0) {
            reach(rest, {reached.cost, before, goal, -1});
            continue;
        }
        for (std::size_t a = 0; a < alternatives.size(); ++a) {
            // A value has one maker: what is provided already is not provided again.
            const auto& provides = alternatives[a].provides;
            if (std::any_of(provides.begin(), provides.end(),
                            [&](int goal_of) { return is_provided(rest, code_of(goal_of)); }))
                continue;
            Frontier& next = pass.next;
            next = rest;
            for (const int need : alternatives[a].needs)
                if (need < form_.low || !pass.entered[static_cast<std::size_t>(need - form_.low)])
                    add_goal(next, code_of(need), false);
            for (const int co_output : alternatives[a].provides) add_goal(next, code_of(co_output), true);
            reach(next, {reached.cost + alternatives[a].cost, before, goal, static_cast<int>(a)});
        }
    }
}

// Leaves the cheapest frontiers where the region has become too much work. True where it left some out.
bool RegionSolver::narrow(Pass& pass, Layer& layer, const SearchOptions& options) const {
    const auto goals = static_cast<std::size_t>(form_.high - form_.low);
    const std::size_t most_work = goal_work * goals + (pass.states <= few_frontiers ? small_work : 0);
    if (pass.states <= options.state_limit && pass.work <= most_work) return false;
    const std::size_t count = layer.entries().size();
    std::size_t size = 0;
    for (const auto& entry : layer.entries()) size += entry.first.size();
    const std::size_t width =
        std::clamp(beam_work * count / std::max<std::size_t>(size, 1), std::size_t{1}, beam_width);
    if (count <= width) return false;
    // Ties must not depend on a hash table's order.
    std::vector<std::pair<double, std::u32string_view>> order;
    for (const auto& [frontier, reached] : layer.entries()) order.emplace_back(reached.cost, frontier);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(width), order.end());
    for (std::size_t i = width; i < order.size(); ++i) layer.erase(order[i].second);
    return true;
}

std::vector<Exit> RegionSolver::exits_of(const Pass& pass) const {
    std::vector<Exit> exits;
    for (const auto& [frontier, reached] : pass.layers[0].entries()) {
        Exit exit{Frontier(frontier), reached.cost, {}};
        if (reached.alternative >= 0) exit.choices.emplace_back(reached.goal - form_.low, reached.alternative);
        for (int before = reached.before; before >= 0;) {
            const Step& step = pass.steps[static_cast<std::size_t>(before)];
            exit.choices.emplace_back(step.goal - form_.low, step.alternative);
            before = step.before;
        }
        exits.push_back(std::move(exit));
    }
    // Ties must not depend on a hash table's order.
    std::sort(exits.begin(), exits.end(),
              [](const Exit& a, const Exit& b) { return a.cost != b.cost ? a.cost < b.cost : a.ports < b.ports; });
    return exits;
}

const std::vector<Exit>& RegionSolver::solve(const Frontier& inside, const SearchOptions& options, std::size_t& states,
                                             bool& exact) {
    const auto known = solved_.find(inside);
    if (known != solved_.end()) return known->second;
    if (port_of_.empty())
        for (std::size_t p = 0; p < form_.ports.size(); ++p) port_of_[form_.ports[p]] = static_cast<char32_t>(p);

    const auto goals = static_cast<std::size_t>(form_.high - form_.low);
    Pass pass(inside, form_.ports.size(), goals);
    pass.states += states;
    for (std::size_t number = goals; number-- > 0;) {
        if (options.stop.stop_requested()) throw Cancelled("select");
        Layer& layer = pass.layers[number + 1];
        if (narrow(pass, layer, options)) exact = false;
        expand(pass, number, options.stop);
        layer.clear();
    }
    states = pass.states;
    return solved_.emplace(inside, exits_of(pass)).first->second;
}

}  // namespace cairn::inline v0::select
