#pragma once

#include "selection/search/search_problem.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// What in a problem is equal to an earlier piece of it.
namespace cairn::search {

/// The goals [low, high), and the first stretch that is equal to it: itself where none is.
struct Segment {
    int low = 0, high = 0;
    std::size_t equal_to = 0;
    std::vector<std::pair<int, int>> below = {};  ///< goals below that one which it names, and what they are here
};

/// What is told of a goal where others name it, and what only where it is in the stretch itself.
struct GoalFlags {
    std::vector<std::uint8_t> anywhere, inside;
};

/// The stretches between the cuts (chain.hpp). Two are equal where they differ in the numbers of goals and choices
/// only: goal by goal as many alternatives, which cost the same and name the same goals of the stretch and below it
/// goals that stand in the same order; and all of them have the same marks.
std::vector<Segment> segments_between(const SearchProblem& problem, std::span<const int> cuts, const GoalFlags& flags);

}  // namespace cairn::search
