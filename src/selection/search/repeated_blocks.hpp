#pragma once

#include "selection/search/search_problem.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Repeated blocks: equal consecutive blocks of goals, the layers of a model.
namespace cairn::search {

/// The equal blocks of a problem, and how many more of them were omitted: the searched problem may be shorter than the
/// one it represents. Two blocks are equal if they differ in the numbers of goals and choices only: goal by goal they
/// have the same subproblem and as many alternatives of equal costs, which reference the same goals of their own block
/// and of the one below, and otherwise the same goals below all blocks. (The lowest block is exempt: where its
/// counterparts reference the block below, it may reference anything.) Goals above the blocks reference no block but
/// the highest.
///
/// *Unfolded numbers* of choices are those that the problem would have with all blocks: from the omitted blocks on,
/// choices are shifted.
struct RepeatedBlocks {
    int low = 0, goals = 0;      ///< first goal of the lowest block, goals per block
    int first = 0, choices = 0;  ///< the same of alternatives
    int blocks = 0;              ///< in the problem
    int omitted = 0;             ///< omitted from the problem

    bool any() const noexcept { return omitted > 0; }
    /// The first goal of a block.
    int low_of(int block) const noexcept { return low + block * goals; }
    /// The number of goals that a goal represents: goals of the second block also represent their counterparts in the
    /// omitted blocks.
    int multiplicity(int goal) const noexcept { return goal >= low_of(1) && goal < low_of(2) ? 1 + omitted : 1; }

    /// Folds an unfolded number: the equal choice of this problem, and the number of blocks by which it lies below.
    std::pair<int, int> written(int unfolded_choice) const noexcept;
    /// The unfolded number of a choice of the folded problem. A choice of a block becomes that of the block `up` blocks
    /// higher; a choice above all blocks is shifted past the omitted ones.
    int unfolded_choice(int choice, int up) const noexcept {
        if (choice < first) return choice;
        return choice + (choice < first + blocks * choices ? up : omitted) * choices;
    }
    /// Maps a choice of an induced problem to the whole one, both unfolded; `names` has the whole's number of each of
    /// its choices.
    int in_whole(int choice, std::span<const int> names, const RepeatedBlocks& whole) const;
};

/// The longest run of equal blocks, none of them omitted; empty if there are not two.
RepeatedBlocks find_repeated_blocks(const SearchProblem& problem, std::span<const int> subproblem_of);

/// A problem with some of its blocks omitted.
struct Folded {
    SearchProblem problem;
    std::vector<int> subproblem_of;
    RepeatedBlocks repeat;
};
/// Keeps `blocks` blocks and omits the rest.
Folded folded(const SearchProblem& problem, std::span<const int> subproblem_of, const RepeatedBlocks& repeat,
              int blocks);

/// For each alternative of a derived problem, the alternatives of the original one that it consists of.
struct ChoiceProvenance {
    std::vector<int> choices;
    std::vector<int> ends;  ///< of each: the end of its choices

    std::span<const int> of(int choice) const {
        const int begin = choice == 0 ? 0 : ends[static_cast<std::size_t>(choice) - 1];
        return std::span(choices).subspan(static_cast<std::size_t>(begin),
                                          static_cast<std::size_t>(ends[static_cast<std::size_t>(choice)] - begin));
    }
};

/// The blocks of a problem derived from another one by removing or reducing parts: those that are still equal,
/// representing as many as `before`. `goals` has the original number of each goal. Empty if fewer than three are equal.
/// If nothing is left of any block, the result has no blocks.
std::optional<RepeatedBlocks> remaining_repeated_blocks(const SearchProblem& problem, std::span<const int> goals,
                                                        const ChoiceProvenance& provenance,
                                                        const RepeatedBlocks& before);
std::optional<RepeatedBlocks> remaining_repeated_blocks(const InducedProblem& induced, const RepeatedBlocks& before);

}  // namespace cairn::search
