#include "selection/search/equal_segments.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace cairn::search {
namespace {

// Maximum number of distinct segments of equal size that a segment is compared with.
constexpr std::size_t max_compared = 8;

class Comparer {
public:
    Comparer(const SearchProblem& problem, const GoalFlags& flags)
        : problem_(problem), flags_(flags), here_(static_cast<std::size_t>(problem.goals()), -1) {}

    /// The pairs of goals below `first` and below `segment`; empty if the two segments differ.
    std::optional<std::vector<std::pair<int, int>>> compared(const Segment& first, const Segment& segment) {
        std::vector<std::pair<int, int>> below;
        const bool is_equal = compare(first, segment, below);
        for (const auto& [there, here] : below) here_[static_cast<std::size_t>(there)] = -1;
        std::sort(below.begin(), below.end());
        const auto rises = [](const auto& a, const auto& b) { return a.second < b.second; };
        const bool is_in_order = std::adjacent_find(below.begin(), below.end(), [&](const auto& a, const auto& b) {
                                     return !rises(a, b);
                                 }) == below.end();
        return is_equal && is_in_order ? std::optional(std::move(below)) : std::nullopt;
    }

private:
    static std::uint8_t at(const std::vector<std::uint8_t>& flags, int goal) {
        return flags[static_cast<std::size_t>(goal)];
    }

    bool compare(const Segment& first, const Segment& segment, std::vector<std::pair<int, int>>& below) {
        const auto is_same = [&](std::span<const int> there, std::span<const int> here) {
            if (there.size() != here.size()) return false;
            for (std::size_t i = 0; i < there.size(); ++i) {
                if ((there[i] >= first.low) != (here[i] >= segment.low)) return false;
                if (there[i] >= first.low) {
                    if (there[i] - first.low != here[i] - segment.low) return false;
                    continue;
                }
                int& known = here_[static_cast<std::size_t>(there[i])];
                if (known < 0) {
                    if (at(flags_.anywhere, there[i]) != at(flags_.anywhere, here[i])) return false;
                    known = here[i];
                    below.emplace_back(there[i], here[i]);
                }
                if (known != here[i]) return false;
            }
            return true;
        };
        for (int goal = 0; goal < segment.high - segment.low; ++goal) {
            const int there = first.low + goal, here = segment.low + goal;
            if (at(flags_.anywhere, there) != at(flags_.anywhere, here) ||
                at(flags_.inside, there) != at(flags_.inside, here))
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

    const SearchProblem& problem_;
    const GoalFlags& flags_;
    std::vector<int> here_;  // counterpart of each goal below the first segment, during a comparison
};

}  // namespace

std::vector<Segment> segments_between(const SearchProblem& problem, std::span<const int> cuts, const GoalFlags& flags) {
    Comparer comparer(problem, flags);
    std::vector<Segment> segments;
    std::map<std::pair<int, int>, std::vector<std::size_t>> known;  // distinct ones, by goals and alternatives
    for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
        Segment segment{cuts[r], cuts[r + 1], r};
        std::vector<std::size_t>& candidates =
            known[{segment.high - segment.low, problem.first(segment.high) - problem.first(segment.low)}];
        for (const std::size_t first : candidates)
            if (auto below = comparer.compared(segments[first], segment)) {
                segment.equal_to = first;
                segment.below = *std::move(below);
                break;
            }
        if (segment.equal_to == r && candidates.size() < max_compared) candidates.push_back(r);
        segments.push_back(std::move(segment));
    }
    return segments;
}

}  // namespace cairn::search
