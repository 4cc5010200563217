#include "select/circles.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

namespace cairn::inline v0::select {
namespace {

// Searches made before exactness is given up.
constexpr int most_searches = 64;

using Forbidden = std::set<AlternativeId>;

/// The search without some alternatives, its result in the numbers of the whole problem.
SearchResult search_without(const SearchProblem& problem, const Forbidden& forbidden,
                            const std::function<SearchResult(const SearchProblem&)>& search) {
    SearchProblem allowed{{}, problem.roots};
    std::vector<std::vector<int>> place(problem.goals.size());
    for (std::size_t g = 0; g < problem.goals.size(); ++g) {
        auto& alternatives = allowed.goals.emplace_back();
        for (std::size_t a = 0; a < problem.goals[g].size(); ++a) {
            const AlternativeId id{static_cast<int>(g), static_cast<int>(a)};
            if (forbidden.contains(id)) continue;
            alternatives.push_back(problem.goals[g][a]);
            place[g].push_back(id.second);
        }
    }
    SearchResult result = search(allowed);
    for (std::size_t g = 0; g < place.size(); ++g)
        if (result.choice[g] >= 0) result.choice[g] = place[g][static_cast<std::size_t>(result.choice[g])];
    return result;
}

struct Attempt {
    SearchResult result;
    Forbidden forbidden;
    bool operator<(const Attempt& other) const noexcept { return result.cost > other.result.cost; }
};

}  // namespace

std::vector<AlternativeId> circle_of(const SearchProblem& problem, const std::vector<int>& choice) {
    const std::size_t count = choice.size();
    std::vector<int> maker(count, -1);
    const auto chosen = [&](std::size_t g) -> const Alternative& {
        return problem.goals[g][static_cast<std::size_t>(choice[g])];
    };
    for (std::size_t g = 0; g < count; ++g)
        if (choice[g] >= 0) {
            maker[g] = static_cast<int>(g);
            for (const int goal : chosen(g).provides) maker[static_cast<std::size_t>(goal)] = static_cast<int>(g);
        }
    // Makers are visited depth first; one met again on its own way closes a circle.
    enum class Seen : std::uint8_t { no, on_the_way, done };
    std::vector<Seen> seen(count, Seen::no);
    std::vector<std::pair<std::size_t, std::size_t>> way;  // a maker, and which of its needs is next
    for (std::size_t start = 0; start < count; ++start) {
        if (choice[start] < 0 || seen[start] != Seen::no) continue;
        way.emplace_back(start, 0);
        seen[start] = Seen::on_the_way;
        while (!way.empty()) {
            auto& [g, next] = way.back();
            if (next == chosen(g).needs.size()) {
                seen[g] = Seen::done;
                way.pop_back();
                continue;
            }
            const int below = maker[static_cast<std::size_t>(chosen(g).needs[next++])];
            if (below < 0 || below == static_cast<int>(g)) continue;
            const auto other = static_cast<std::size_t>(below);
            if (seen[other] == Seen::no) {
                seen[other] = Seen::on_the_way;
                way.emplace_back(other, 0);
            } else if (seen[other] == Seen::on_the_way) {
                std::vector<AlternativeId> circle;
                for (std::size_t i = way.size(); i-- > 0;) {
                    circle.emplace_back(static_cast<int>(way[i].first), choice[way[i].first]);
                    if (way[i].first == other) return circle;
                }
            }
        }
    }
    return {};
}

SearchResult search_without_circles(const SearchProblem& problem,
                                    const std::function<SearchResult(const SearchProblem&)>& search) {
    std::priority_queue<Attempt> open;
    open.push({search(problem), {}});
    int searches = 1;
    while (!open.empty()) {
        const Attempt attempt = open.top();
        open.pop();
        const std::vector<AlternativeId> circle = circle_of(problem, attempt.result.choice);
        if (circle.empty()) return attempt.result;
        if (searches + static_cast<int>(circle.size()) > most_searches) break;
        for (const AlternativeId& alternative : circle) {
            Forbidden forbidden = attempt.forbidden;
            forbidden.insert(alternative);
            ++searches;
            try {
                SearchResult result = search_without(problem, forbidden, search);
                open.push({std::move(result), std::move(forbidden)});
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::unsupported) throw;  // else: no way without it
            }
        }
    }
    Forbidden forbidden;
    for (std::size_t g = 0; g < problem.goals.size(); ++g)
        for (std::size_t a = 0; a < problem.goals[g].size(); ++a)
            if (!problem.goals[g][a].provides.empty()) forbidden.insert({static_cast<int>(g), static_cast<int>(a)});
    SearchResult result = search_without(problem, forbidden, search);
    result.exact = false;
    return result;
}

}  // namespace cairn::inline v0::select
