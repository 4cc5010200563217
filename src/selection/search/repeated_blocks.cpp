#include "selection/search/repeated_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace cairn::search {
namespace {

// Maximum number of candidate distances between repeated goals.
constexpr std::size_t most_distances = 4;

// One block with one above it and one below.
constexpr int least_blocks = 3;

std::size_t at(int number) { return static_cast<std::size_t>(number); }

/// Compares blocks of goals.
class BlockComparer {
public:
    /// `subproblem_of` may be empty.
    BlockComparer(const SearchProblem& problem, std::span<const int> subproblem_of)
        : problem_(problem), subproblem_of_(subproblem_of) {
        is_root_.assign(at(problem.goals()), false);
        for (const int root : problem.roots()) is_root_[at(root)] = true;
    }

    /// A hash of each goal's subproblem, root flag and costs.
    std::vector<std::uint64_t> signatures() const {
        std::vector<std::uint64_t> signatures;
        signatures.reserve(at(problem_.goals()));
        for (int goal = 0; goal < problem_.goals(); ++goal) {
            std::uint64_t signature = at(subproblem_of_[at(goal)] + 2) << 1 | (is_root_[at(goal)] ? 1U : 0U);
            for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
                signature = (signature ^ std::bit_cast<std::uint64_t>(problem_.cost(choice))) * 0x9e3779b97f4a7c15ULL ^
                            signature >> 31;
            signatures.push_back(signature);
        }
        return signatures;
    }

    /// True if a goal of a block other than the lowest equals its counterpart in the block below.
    bool is_as_below(int goal, const RepeatedBlocks& repeat) const {
        const int below = goal - repeat.goals, count = problem_.first(goal + 1) - problem_.first(goal);
        if ((!subproblem_of_.empty() && subproblem_of_[at(goal)] != subproblem_of_[at(below)]) ||
            is_root_[at(goal)] != is_root_[at(below)] || problem_.first(below + 1) - problem_.first(below) != count)
            return false;
        const auto is_same = [&](std::span<const int> here, std::span<const int> there) {
            if (here.size() != there.size()) return false;
            for (std::size_t i = 0; i < here.size(); ++i)
                if (here[i] - there[i] != (here[i] >= repeat.low ? repeat.goals : 0)) return false;
            return true;
        };
        for (int i = 0; i < count; ++i) {
            const Alternative here = problem_.alternative(problem_.first(goal) + i),
                              there = problem_.alternative(problem_.first(below) + i);
            if (here.cost != there.cost || !is_same(here.needs, there.needs) || !is_same(here.provides, there.provides))
                return false;
        }
        return true;
    }

    /// True if goals above the blocks reference no block but the highest.
    bool ends(const RepeatedBlocks& repeat) const {
        const int high = repeat.low_of(repeat.blocks), highest = repeat.low_of(repeat.blocks - 1);
        for (int choice = problem_.first(high); choice < problem_.alternatives(); ++choice) {
            const Alternative alternative = problem_.alternative(choice);
            for (const auto& goals : {alternative.needs, alternative.provides})
                for (const int goal : goals)
                    if (goal >= repeat.low && goal < highest) return false;
        }
        return true;
    }

private:
    const SearchProblem& problem_;
    std::span<const int> subproblem_of_;
    std::vector<bool> is_root_;
};

/// The distances at which most goals repeat.
std::vector<int> distances_in(const std::vector<std::uint64_t>& signatures) {
    std::unordered_map<std::uint64_t, int> last;
    last.reserve(signatures.size());
    std::vector<int> votes(signatures.size(), 0), distances;
    for (int goal = 0; goal < static_cast<int>(signatures.size()); ++goal) {
        const auto [it, fresh] = last.try_emplace(signatures[at(goal)], goal);
        if (!fresh) ++votes[at(goal - std::exchange(it->second, goal))];
    }
    for (int distance = 1; distance < static_cast<int>(votes.size()); ++distance)
        if (votes[at(distance)] > 0) distances.push_back(distance);
    const std::size_t count = std::min(distances.size(), most_distances);
    std::partial_sort(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(count), distances.end(),
                      [&](int a, int b) { return votes[at(a)] != votes[at(b)] ? votes[at(a)] > votes[at(b)] : a < b; });
    distances.resize(count);
    return distances;
}

/// The longest run of goals each of which has the signature of the goal `distance` below it.
std::pair<int, int> longest_run(const std::vector<std::uint64_t>& signatures, int distance) {
    std::pair<int, int> longest{0, 0};
    int begin = distance;
    const auto count = static_cast<int>(signatures.size());
    for (int goal = distance; goal <= count; ++goal)
        if (goal == count || signatures[at(goal)] != signatures[at(goal - distance)]) {
            if (goal - begin > longest.second - longest.first) longest = {begin, goal};
            begin = goal + 1;
        }
    return longest;
}

/// The longest run of fully equal blocks in [low, high).
RepeatedBlocks as_far_as_equal(const SearchProblem& problem, const BlockComparer& blocks, int low, int high,
                               int distance) {
    RepeatedBlocks best;
    for (RepeatedBlocks repeat{low, distance, 0, 0, 0, 0}; high - repeat.low >= 2 * distance;) {
        int goal = repeat.low + distance;
        while (goal < high && blocks.is_as_below(goal, repeat)) ++goal;
        repeat.blocks = (goal - repeat.low) / distance;
        if (repeat.blocks > std::max(best.blocks, 1) && blocks.ends(repeat)) best = repeat;
        repeat.low = goal - distance + 1;
    }
    best.first = problem.first(best.low);
    best.choices = problem.first(best.low_of(1)) - best.first;
    return best;
}

}  // namespace

std::pair<int, int> RepeatedBlocks::written(int unfolded_choice) const noexcept {
    const int past = unfolded_choice - first;
    if (omitted == 0 || choices == 0 || past < blocks * choices) return {unfolded_choice, 0};
    const int up = std::min(past / choices - (blocks - 1), omitted);
    return {unfolded_choice - up * choices, up};
}

int RepeatedBlocks::in_whole(int choice, std::span<const int> names, const RepeatedBlocks& whole) const {
    const auto [own, up] = written(choice);
    return whole.unfolded_choice(names[at(own)], up);
}

RepeatedBlocks find_repeated_blocks(const SearchProblem& problem, std::span<const int> subproblem_of) {
    const BlockComparer blocks(problem, subproblem_of);
    const std::vector<std::uint64_t> signatures = blocks.signatures();
    RepeatedBlocks best;
    for (const int distance : distances_in(signatures)) {
        const auto [begin, end] = longest_run(signatures, distance);
        if (end - begin + distance <= best.blocks * best.goals) continue;
        const RepeatedBlocks repeat = as_far_as_equal(problem, blocks, begin - distance, end, distance);
        if (repeat.blocks * repeat.goals > best.blocks * best.goals) best = repeat;
    }
    return best;
}

Folded folded(const SearchProblem& problem, std::span<const int> subproblem_of, const RepeatedBlocks& repeat,
              int blocks) {
    Folded result;
    result.repeat = repeat;
    result.repeat.blocks = blocks;
    result.repeat.omitted += repeat.blocks - blocks;
    const int begin = repeat.low_of(blocks), end = repeat.low_of(repeat.blocks), gone = end - begin;
    std::vector<int> needs, provides;
    const auto numbered = [&](std::span<const int> goals, std::vector<int>& numbers) -> std::span<const int> {
        numbers.clear();
        for (const int goal : goals) numbers.push_back(goal >= begin ? goal - gone : goal);
        return numbers;
    };
    for (int goal = 0; goal < problem.goals(); ++goal) {
        if (goal == begin) goal = end;
        if (goal == problem.goals()) break;
        result.problem.add_goal();
        result.subproblem_of.push_back(subproblem_of[at(goal)]);
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative all = problem.alternative(choice);
            result.problem.add_alternative(all.cost, numbered(all.needs, needs), numbered(all.provides, provides));
        }
    }
    for (const int root : problem.roots())
        if (root < begin || root >= end) result.problem.add_root(root < begin ? root : root - gone);
    return result;
}

std::optional<RepeatedBlocks> remaining_repeated_blocks(const SearchProblem& problem, std::span<const int> goals,
                                                        const ChoiceProvenance& provenance,
                                                        const RepeatedBlocks& before) {
    if (!before.any()) return before;
    std::vector<int> lows;
    for (int block = 0; block <= before.blocks; ++block)
        lows.push_back(
            static_cast<int>(std::lower_bound(goals.begin(), goals.end(), before.low_of(block)) - goals.begin()));
    if (lows.front() == lows.back()) return RepeatedBlocks();
    const BlockComparer blocks(problem, {});
    const auto is_moved = [&](int here, int there) {
        return std::ranges::equal(provenance.of(here), provenance.of(there),
                                  [&](int a, int b) { return a == before.unfolded_choice(b, 1); });
    };
    const auto is_as_below = [&](int block, const RepeatedBlocks& repeat) {
        for (int goal = lows[at(block)]; goal < lows[at(block + 1)]; ++goal) {
            const int below = goal - repeat.goals;
            if (goals[at(goal)] - goals[at(below)] != before.goals || !blocks.is_as_below(goal, repeat)) return false;
            for (int i = 0; i < problem.first(goal + 1) - problem.first(goal); ++i)
                if (!is_moved(problem.first(goal) + i, problem.first(below) + i)) return false;
        }
        return true;
    };
    RepeatedBlocks best;
    for (int block = 0; block < before.blocks;) {
        RepeatedBlocks repeat{lows[at(block)], lows[at(block + 1)] - lows[at(block)], 0, 0, 1, before.omitted};
        for (int next = block + 1; repeat.goals > 0 && next < before.blocks; ++next, ++repeat.blocks)
            if (lows[at(next + 1)] - lows[at(next)] != repeat.goals || !is_as_below(next, repeat)) break;
        if (repeat.blocks > best.blocks) best = repeat;
        block += repeat.blocks;
    }
    if (best.blocks < least_blocks || best.goals == 0 || !blocks.ends(best)) return std::nullopt;
    best.first = problem.first(best.low);
    best.choices = problem.first(best.low_of(1)) - best.first;
    return best;
}

std::optional<RepeatedBlocks> remaining_repeated_blocks(const InducedProblem& induced, const RepeatedBlocks& before) {
    if (!before.any()) return before;
    ChoiceProvenance provenance{induced.choices, std::vector<int>(induced.choices.size())};
    std::iota(provenance.ends.begin(), provenance.ends.end(), 1);
    return remaining_repeated_blocks(induced.problem, induced.goals, provenance, before);
}

}  // namespace cairn::search
