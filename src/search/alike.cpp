#include "search/alike.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace cairn::search {
namespace {

// So many stretches that begin alike are looked at.
constexpr std::size_t most_compared = 8;

class Comparer {
public:
    Comparer(const Problem& problem, const Marks& marks)
        : problem_(problem), marks_(marks), here_(static_cast<std::size_t>(problem.goals()), -1) {}

    /// The goals below `stretch`, by those below `first`; nothing where the two differ.
    std::optional<std::vector<std::pair<int, int>>> compared(const Stretch& first, const Stretch& stretch) {
        std::vector<std::pair<int, int>> below;
        const bool is_equal = compare(first, stretch, below);
        for (const auto& [there, here] : below) here_[static_cast<std::size_t>(there)] = -1;
        std::sort(below.begin(), below.end());
        const auto rises = [](const auto& a, const auto& b) { return a.second < b.second; };
        const bool is_in_order = std::adjacent_find(below.begin(), below.end(), [&](const auto& a, const auto& b) {
                                     return !rises(a, b);
                                 }) == below.end();
        return is_equal && is_in_order ? std::optional(std::move(below)) : std::nullopt;
    }

private:
    static std::uint8_t at(const std::vector<std::uint8_t>& marks, int goal) {
        return marks[static_cast<std::size_t>(goal)];
    }

    bool compare(const Stretch& first, const Stretch& stretch, std::vector<std::pair<int, int>>& below) {
        const auto is_same = [&](std::span<const int> there, std::span<const int> here) {
            if (there.size() != here.size()) return false;
            for (std::size_t i = 0; i < there.size(); ++i) {
                if ((there[i] >= first.low) != (here[i] >= stretch.low)) return false;
                if (there[i] >= first.low) {
                    if (there[i] - first.low != here[i] - stretch.low) return false;
                    continue;
                }
                int& known = here_[static_cast<std::size_t>(there[i])];
                if (known < 0) {
                    if (at(marks_.anywhere, there[i]) != at(marks_.anywhere, here[i])) return false;
                    known = here[i];
                    below.emplace_back(there[i], here[i]);
                }
                if (known != here[i]) return false;
            }
            return true;
        };
        for (int goal = 0; goal < stretch.high - stretch.low; ++goal) {
            const int there = first.low + goal, here = stretch.low + goal;
            if (at(marks_.anywhere, there) != at(marks_.anywhere, here) ||
                at(marks_.inside, there) != at(marks_.inside, here))
                return false;
            const int count = problem_.first(here + 1) - problem_.first(here);
            if (problem_.first(there + 1) - problem_.first(there) != count) return false;
            for (int i = 0; i < count; ++i) {
                const Alternative a = problem_.alternative(problem_.first(there) + i),
                                  b = problem_.alternative(problem_.first(here) + i);
                if (a.cost != b.cost || !is_same(a.needs, b.needs) || !is_same(a.provides, b.provides)) return false;
            }
        }
        return true;
    }

    const Problem& problem_;
    const Marks& marks_;
    std::vector<int> here_;  // of each goal below the first stretch, while two are compared
};

}  // namespace

std::vector<Stretch> stretches_between(const Problem& problem, std::span<const int> cuts, const Marks& marks) {
    Comparer comparer(problem, marks);
    std::vector<Stretch> stretches;
    std::map<std::pair<int, int>, std::vector<std::size_t>> known;  // first ones, by goals and alternatives
    for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
        Stretch stretch{cuts[r], cuts[r + 1], r};
        std::vector<std::size_t>& rivals =
            known[{stretch.high - stretch.low, problem.first(stretch.high) - problem.first(stretch.low)}];
        for (const std::size_t first : rivals)
            if (auto below = comparer.compared(stretches[first], stretch)) {
                stretch.like = first;
                stretch.below = *std::move(below);
                break;
            }
        if (stretch.like == r && rivals.size() < most_compared) rivals.push_back(r);
        stretches.push_back(std::move(stretch));
    }
    return stretches;
}

}  // namespace cairn::search
