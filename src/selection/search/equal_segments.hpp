#pragma once

#include "selection/search/search_problem.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// Segments of a problem that are equal to earlier ones.
namespace cairn::search {

/// The goals [low, high), and the first segment that is equal to it; itself if there is none.
struct Segment {
    int low = 0, high = 0;
    std::size_t equal_to = 0;
    std::vector<std::pair<int, int>> below = {};  ///< goals that it references below, and their counterparts here
};

/// Flags of goals that equal segments must agree on: wherever a goal is referenced, and only inside the segment.
struct GoalFlags {
    std::vector<std::uint8_t> anywhere, inside;
};

/// The segments between the cuts (chain.hpp). Two are equal if they differ in the numbers of goals and choices only:
/// goal by goal they have as many alternatives of equal costs, which reference the same goals of the segment and, below
/// it, goals in the same order; and all goals have equal flags.
std::vector<Segment> segments_between(const SearchProblem& problem, std::span<const int> cuts, const GoalFlags& flags);

}  // namespace cairn::search
