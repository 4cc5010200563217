#include "select/frontier.hpp"

#include "cairn/error.hpp"
#include "select/region.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace cairn::inline v0::select {
namespace {

// Regions are cut where at most this many goals are needed across the cut: residual stream, a mask, a position.
constexpr int max_crossing = 3;

/// The problem without alternatives that rest on something unreachable.
SearchProblem reachable_part(const SearchProblem& problem) {
    SearchProblem part{std::vector<std::vector<Alternative>>(problem.goals.size()), problem.roots};
    for (std::size_t g = 0; g < problem.goals.size(); ++g)
        for (const Alternative& alternative : problem.goals[g]) {
            const bool possible = std::all_of(alternative.needs.begin(), alternative.needs.end(), [&](int need) {
                return !part.goals[static_cast<std::size_t>(need)].empty();
            });
            // An empty slot keeps the numbering of alternatives: it is never chosen because its cost is infinite.
            part.goals[g].push_back(possible ? alternative : Alternative{-1, {}, {}});
        }
    for (std::size_t g = 0; g < part.goals.size(); ++g) {
        auto& alternatives = part.goals[g];
        if (std::all_of(alternatives.begin(), alternatives.end(), [](const Alternative& a) { return a.cost < 0; }))
            alternatives.clear();
    }
    return part;
}

std::vector<int> cuts_of(const SearchProblem& problem, bool share) {
    const int count = static_cast<int>(problem.goals.size());
    std::vector<int> cuts{0};
    if (share) {
        std::vector<int> last_user(problem.goals.size(), -1);
        for (int g = 0; g < count; ++g)
            for (const Alternative& alternative : problem.goals[static_cast<std::size_t>(g)])
                for (const auto* goals : {&alternative.needs, &alternative.provides})
                    for (const int goal : *goals) last_user[static_cast<std::size_t>(goal)] = g;
        std::vector<int> delta(problem.goals.size() + 1, 0);
        for (int g = 0; g < count; ++g) {
            const int user = last_user[static_cast<std::size_t>(g)];
            if (user <= g) continue;
            ++delta[static_cast<std::size_t>(g) + 1];
            if (user + 1 <= count) --delta[static_cast<std::size_t>(std::min(user + 1, count))];
        }
        int crossing = 0;
        for (int p = 1; p < count; ++p) {
            crossing += delta[static_cast<std::size_t>(p)];
            if (crossing <= max_crossing && p - cuts.back() >= 4) cuts.push_back(p);
        }
    }
    cuts.push_back(count);
    return cuts;
}

struct Arrival {
    double cost = 0;
    const std::pair<const Frontier, Arrival>* from = nullptr;
    const Exit* exit = nullptr;
};

/// Follows every frontier at the upper border of a region through it.
void cross_region(const std::map<Frontier, Arrival>& above, std::map<Frontier, Arrival>& below, const RegionForm& form,
                  const std::vector<int>& roots, RegionSolver& solver, const SearchOptions& options, SearchResult& result) {
    const auto port_count = static_cast<char32_t>(form.ports.size());
    for (const auto& entry : above) {
        Frontier pending = entry.first;
        for (const int root : roots)
            if (root >= form.low && root < form.high) add_goal(pending, static_cast<char32_t>(root), false);
        Frontier inside, outside;
        for (const char32_t code : pending) {
            const char32_t goal = code >> 1;
            if (goal >= static_cast<char32_t>(form.low))
                inside.push_back(((goal - static_cast<char32_t>(form.low) + port_count) << 1) | (code & 1U));
            else
                outside.push_back(code);
        }
        for (const Exit& exit : solver.solve(inside, options.state_limit, result.states, result.exact)) {
            Frontier next = outside;
            const auto twice = [&](char32_t code) {
                return (code & 1U) != 0 && is_provided(outside, static_cast<char32_t>(form.ports[code >> 1]));
            };
            if (std::any_of(exit.ports.begin(), exit.ports.end(), twice)) continue;
            for (const char32_t code : exit.ports)
                add_goal(next, static_cast<char32_t>(form.ports[code >> 1]), (code & 1U) != 0);
            const double cost = entry.second.cost + exit.cost;
            const auto [it, fresh] = below.try_emplace(std::move(next), Arrival{cost, &entry, &exit});
            if (!fresh && cost < it->second.cost) it->second = {cost, &entry, &exit};
        }
    }
}

}  // namespace

SearchResult search(const SearchProblem& original, const SearchOptions& options) {
    SearchProblem problem = reachable_part(original);
    for (const int root : problem.roots)
        if (problem.goals[static_cast<std::size_t>(root)].empty())
            throw Error(ErrorKind::unsupported, "select", "goal " + std::to_string(root) + " cannot be reached");
    // Impossible alternatives cost more than everything possible together, so no optimum holds one.
    double total = 1;
    for (const auto& alternatives : problem.goals)
        for (const Alternative& alternative : alternatives) total += std::max(alternative.cost, 0.0);
    for (auto& alternatives : problem.goals)
        for (Alternative& alternative : alternatives)
            if (alternative.cost < 0) alternative.cost = 2 * total;

    SearchResult result;
    result.choice.assign(problem.goals.size(), -1);
    const std::vector<int> cuts = cuts_of(problem, options.share_regions);
    const std::size_t regions = cuts.size() - 1;
    std::vector<RegionForm> forms(regions);
    std::map<std::u32string, RegionSolver> solvers;
    std::vector<std::map<Frontier, Arrival>> borders(regions + 1);
    borders[regions][{}] = {};
    for (std::size_t r = regions; r-- > 0;) {
        forms[r] = form_of(problem, cuts[r], cuts[r + 1]);
        RegionSolver& solver = solvers.try_emplace(forms[r].signature, problem, forms[r]).first->second;
        cross_region(borders[r + 1], borders[r], forms[r], problem.roots, solver, options, result);
    }
    result.regions = regions;
    result.regions_solved = solvers.size();

    const auto end = borders[0].find({});
    if (end == borders[0].end()) throw InternalError("select", "the search found no consistent set of choices");
    result.cost = end->second.cost;
    const auto* step = &*end;
    for (std::size_t r = 0; r < regions; ++r) {
        for (const auto& [goal, alternative] : step->second.exit->choices)
            result.choice[static_cast<std::size_t>(goal + forms[r].low)] = alternative;
        step = step->second.from;
    }
    return result;
}

}  // namespace cairn::inline v0::select
