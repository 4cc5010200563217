#include "select/frontier.hpp"

#include "cairn/error.hpp"
#include "select/circles.hpp"
#include "select/parts.hpp"
#include "select/reduce.hpp"
#include "select/region.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace cairn::inline v0::select {
namespace {

// Regions are cut where at most this many goals are needed across the cut: the residual stream, a mask, positions, the
// forms of a weight that the first and the last layer share. A region has at least this many goals.
constexpr int max_crossing = 8, min_region = 4;

/// Where to cut the order of goals: at the places that fewest goals are needed across, of those in the middle half.
std::vector<int> cuts_of(const SearchProblem& problem, bool share) {
    const std::size_t count = problem.goals.size();
    std::vector<int> cuts{0};
    if (share) {
        std::vector<std::size_t> last_user(count, 0);
        for (std::size_t g = 0; g < count; ++g)
            for (const Alternative& alternative : problem.goals[g])
                for (const auto* goals : {&alternative.needs, &alternative.provides})
                    for (const int goal : *goals) last_user[static_cast<std::size_t>(goal)] = g;
        std::vector<int> crossing(count + 1, 0);
        for (std::size_t g = 0; g < count; ++g)
            if (last_user[g] > g) ++crossing[g + 1], --crossing[last_user[g] + 1];
        for (std::size_t p = 1; p <= count; ++p) crossing[p] += crossing[p - 1];
        const auto quarter = static_cast<std::ptrdiff_t>(count / 4);
        const int fewest = *std::min_element(crossing.begin() + quarter, crossing.end() - quarter);
        for (std::size_t p = 1; p < count && fewest <= max_crossing; ++p)
            if (crossing[p] <= fewest && static_cast<int>(p) - cuts.back() >= min_region)
                cuts.push_back(static_cast<int>(p));
    }
    cuts.push_back(static_cast<int>(count));
    return cuts;
}

struct Arrival {
    double cost = 0;
    const std::pair<const Frontier, Arrival>* from = nullptr;
    const Exit* exit = nullptr;
};

/// Follows every frontier at the upper border of a region through it.
void cross_region(const std::map<Frontier, Arrival>& above, std::map<Frontier, Arrival>& below, const RegionForm& form,
                  const std::vector<int>& roots, RegionSolver& solver, const SearchOptions& options,
                  SearchResult& result) {
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
        for (const Exit& exit : solver.solve(inside, options, result.states, result.exact)) {
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

[[noreturn]] void refuse() {
    throw Error(ErrorKind::unsupported, "select", "each goal can be reached, but not all of them at once");
}

/// The cheapest choices, whether or not they rest on each other in a circle.
SearchResult search_freely(const SearchProblem& original, const SearchOptions& options) {
    const Reduction reduction = reduce(original, options.stop);
    const SearchProblem& problem = reduction.problem;

    SearchResult result;
    result.choice.assign(original.goals.size(), -1);
    const std::vector<int> cuts = cuts_of(problem, options.share_regions);
    const std::size_t regions = cuts.size() - 1;
    if (regions == 1)
        if (const auto whole = search_parts(problem, options)) {
            if (whole->cost == std::numeric_limits<double>::infinity()) refuse();
            for (const auto& [goal, alternative] : whole->choices) reduction.decide(goal, alternative, result.choice);
            result.cost = whole->cost;
            result.states = whole->states;
            result.regions = result.regions_solved = 1;
            return result;
        }
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
    if (end == borders[0].end()) refuse();
    result.cost = end->second.cost;
    const auto* step = &*end;
    for (std::size_t r = 0; r < regions; ++r) {
        for (const auto& [goal, alternative] : step->second.exit->choices)
            reduction.decide(goal + forms[r].low, alternative, result.choice);
        step = step->second.from;
    }
    return result;
}

}  // namespace

SearchResult search(const SearchProblem& problem, const SearchOptions& options) {
    return search_without_circles(problem,
                                  [&](const SearchProblem& allowed) { return search_freely(allowed, options); });
}

}  // namespace cairn::inline v0::select
