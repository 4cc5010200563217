#pragma once

#include "search/problem.hpp"
#include "select/candidates.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

/// The memo: from tiles and kernels to the numbered goals and alternatives that the search sees.
namespace cairn::inline v0::select {

/// True for the goal of keeping a bound value in memory (rather than that of making it): its candidate has no kernel.
bool is_residence(const GoalKey& key) noexcept;

/// The goal that an operand of a candidate rests on; nothing for what is there anyway (inputs, weights, constants,
/// states before the run).
std::optional<GoalKey> goal_of(const Source& source, const ir::GraphData& graph, const Candidates& candidates);

/// A search problem and what its numbers mean.
struct Memo {
    search::Problem problem;
    std::vector<GoalKey> keys;          ///< of each goal
    std::vector<Candidate> candidates;  ///< of each alternative
};

/// Builds the memo of a graph. Goals are values with memory of their own, dense copies of views, and packed forms of
/// bound values, numbered so that needs come before users. With `first_only` each value has the first candidate of its
/// own op and no other. Throws Error(unsupported) where a needed value has no candidate, Cancelled on a stop.
Memo memo_of(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates, bool first_only,
             const std::stop_token& stop = {});

}  // namespace cairn::inline v0::select
