#include "select/region.hpp"

#include <algorithm>
#include <cstring>

namespace cairn::inline v0::select {
namespace {

// Frontiers kept per goal once a region has outgrown the limit.
constexpr std::size_t beam_width = 512;

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

bool is_provided(const Frontier& frontier, char32_t goal) {
    return std::binary_search(frontier.begin(), frontier.end(), (goal << 1) | 1U, std::greater<>());
}

RegionForm form_of(const SearchProblem& problem, int low, int high) {
    RegionForm form{low, high, {}, {}};
    std::unordered_map<int, int> ports;
    const auto mention = [&](const std::vector<int>& goals) {
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

void RegionSolver::expand(std::vector<Layer>& layers, int goal, std::size_t& states) {
    const auto port_count = static_cast<char32_t>(form_.ports.size());
    const auto code_of = [&](int target) {
        return target >= form_.low ? port_count + static_cast<char32_t>(target - form_.low) : port_of_.at(target);
    };
    const auto layer_of = [&](const Frontier& frontier) -> Layer& {
        const bool left = frontier.empty() || frontier.front() >> 1 < port_count;
        return layers[left ? 0 : (frontier.front() >> 1) - port_count + 1];
    };
    const auto reach = [&](Frontier next, double cost, const std::pair<const Frontier, Reached>* from,
                           int alternative) {
        const auto [it, fresh] = layer_of(next).try_emplace(std::move(next), Reached{cost, from, goal, alternative});
        if (fresh)
            ++states;
        else if (cost < it->second.cost)
            it->second = {cost, from, goal, alternative};
    };
    for (const auto& entry : layers[static_cast<std::size_t>(goal - form_.low) + 1]) {
        const Frontier rest = entry.first.substr(1);
        if (entry.first.front() & 1U) {
            reach(rest, entry.second.cost, &entry, -1);
            continue;
        }
        const auto& alternatives = problem_->goals[static_cast<std::size_t>(goal)];
        for (std::size_t a = 0; a < alternatives.size(); ++a) {
            // A value has one maker: what is provided already is not provided again.
            const auto& provides = alternatives[a].provides;
            if (std::any_of(provides.begin(), provides.end(),
                            [&](int goal_of) { return is_provided(rest, code_of(goal_of)); }))
                continue;
            Frontier next = rest;
            for (const int need : alternatives[a].needs) add_goal(next, code_of(need), false);
            for (const int co_output : alternatives[a].provides) add_goal(next, code_of(co_output), true);
            reach(std::move(next), entry.second.cost + alternatives[a].cost, &entry, static_cast<int>(a));
        }
    }
}

const std::vector<Exit>& RegionSolver::solve(const Frontier& inside, std::size_t limit, std::size_t& states,
                                             bool& exact) {
    const auto known = solved_.find(inside);
    if (known != solved_.end()) return known->second;
    if (port_of_.empty())
        for (std::size_t p = 0; p < form_.ports.size(); ++p) port_of_[form_.ports[p]] = static_cast<char32_t>(p);

    // Layer 0 holds the exits; layer i + 1 the frontiers whose highest goal is low + i.
    std::vector<Layer> layers(static_cast<std::size_t>(form_.high - form_.low) + 1);
    const char32_t top = inside.empty() ? 0 : (inside.front() >> 1) - static_cast<char32_t>(form_.ports.size()) + 1;
    layers[top].try_emplace(inside, Reached{0, nullptr, -1, -1});
    ++states;
    for (int goal = form_.high - 1; goal >= form_.low; --goal) {
        Layer& layer = layers[static_cast<std::size_t>(goal - form_.low) + 1];
        if (states > limit && layer.size() > beam_width) {
            exact = false;
            std::vector<std::pair<double, const Frontier*>> order;
            for (const auto& [frontier, reached] : layer) order.emplace_back(reached.cost, &frontier);
            std::nth_element(order.begin(), order.begin() + beam_width, order.end());
            for (std::size_t i = beam_width; i < order.size(); ++i) layer.erase(Frontier(*order[i].second));
        }
        expand(layers, goal, states);
    }
    std::vector<Exit> exits;
    for (const auto& entry : layers[0]) {
        Exit exit{entry.first, entry.second.cost, {}};
        for (const auto* step = &entry; step->second.from != nullptr; step = step->second.from)
            if (step->second.alternative >= 0)
                exit.choices.emplace_back(step->second.goal - form_.low, step->second.alternative);
        exits.push_back(std::move(exit));
    }
    // Ties must not depend on a hash table's order.
    std::sort(exits.begin(), exits.end(),
              [](const Exit& a, const Exit& b) { return a.cost != b.cost ? a.cost < b.cost : a.ports < b.ports; });
    return solved_.emplace(inside, std::move(exits)).first->second;
}

}  // namespace cairn::inline v0::select
