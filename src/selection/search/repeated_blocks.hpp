#pragma once

#include "selection/search/search_problem.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Equal blocks of goals one upon another: the layers of a model.
namespace cairn::search {

/// Blocks of a problem that are equal, and how many more such there are than the problem has: what is searched need not
/// be as long as what it stands for. Two blocks are equal where they differ in the numbers of goals and choices only:
/// goal by goal the same side and as many alternatives, which cost the same and name the same goals of their own block
/// and of the one below it; other goals they name are the same ones, from below all blocks. (So it is but for the
/// lowest block: what its fellows name in the one below, it may name anywhere.) Nothing above names any block but the
/// highest.
///
/// Choices are *numbered in full* where they are numbered as if all blocks were there: so much further on, from the
/// blocks that are not there on.
struct RepeatedBlocks {
    int low = 0, goals = 0;      ///< the first goal of the lowest block, and how many each has
    int first = 0, choices = 0;  ///< the same of alternatives
    int blocks = 0;              ///< that the problem has
    int omitted = 0;             ///< that it has not

    bool any() const noexcept { return omitted > 0; }
    /// The first goal of a block.
    int low_of(int block) const noexcept { return low + block * goals; }
    /// For how many goals one stands: those of the second block also for their fellows in the blocks that are not
    /// there.
    int multiplicity(int goal) const noexcept { return goal >= low_of(1) && goal < low_of(2) ? 1 + omitted : 1; }

    /// A choice numbered in full: the choice of the problem that is like it, and how many blocks below it that lies.
    std::pair<int, int> written(int unfolded_choice) const noexcept;
    /// The number of a choice of the folded problem in the whole problem. A choice of a block is that of the block `up`
    /// blocks higher; a choice above all blocks is shifted past the blocks that were folded away.
    int unfolded_choice(int choice, int up) const noexcept {
        if (choice < first) return choice;
        return choice + (choice < first + blocks * choices ? up : omitted) * choices;
    }
    /// A choice of an excerpt, both numbered in full: `names` tells what each choice of the excerpt is in the whole.
    int in_whole(int choice, std::span<const int> names, const RepeatedBlocks& whole) const;
};

/// The longest run of equal blocks, all of which are there; none where there are not two.
RepeatedBlocks find_repeated_blocks(const SearchProblem& problem, std::span<const int> subproblem_of);

/// A problem without some of its blocks.
struct Folded {
    SearchProblem problem;
    std::vector<int> subproblem_of;
    RepeatedBlocks repeat;
};
/// Leaves so many blocks.
Folded folded(const SearchProblem& problem, std::span<const int> subproblem_of, const RepeatedBlocks& repeat,
              int blocks);

/// What each alternative of a problem was in the one that it was made of: some alternatives of that one.
struct ChoiceProvenance {
    std::vector<int> choices;
    std::vector<int> ends;  ///< of each, where its choices end

    std::span<const int> of(int choice) const {
        const int begin = choice == 0 ? 0 : ends[static_cast<std::size_t>(choice) - 1];
        return std::span(choices).subspan(static_cast<std::size_t>(begin),
                                          static_cast<std::size_t>(ends[static_cast<std::size_t>(choice)] - begin));
    }
};

/// What is left of the blocks in a problem that was made of another one by leaving some of it out or making it smaller:
/// those that are still equal, for as many as before. `goals` tells what each goal was there. Nothing where fewer than
/// three are equal; where nothing is left of any, there is none to repeat.
std::optional<RepeatedBlocks> remaining_repeated_blocks(const SearchProblem& problem, std::span<const int> goals,
                                                        const ChoiceProvenance& provenance,
                                                        const RepeatedBlocks& before);
std::optional<RepeatedBlocks> remaining_repeated_blocks(const InducedProblem& induced, const RepeatedBlocks& before);

}  // namespace cairn::search
