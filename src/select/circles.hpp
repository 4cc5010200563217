#pragma once

#include "select/frontier.hpp"

#include <functional>
#include <utility>
#include <vector>

/// Choices that rest on each other in a circle: goal 3 provides 0 and needs 2, goal 2 needs 0.
namespace cairn::inline v0::select {

/// An alternative by its goal and its place there.
using AlternativeId = std::pair<int, int>;

/// The chosen alternatives of one circle; empty when there is none.
std::vector<AlternativeId> circle_of(const SearchProblem& problem, const std::vector<int>& choice);

/// The cheapest choices without a circle, where `search` finds the cheapest ones: of the alternatives of a circle one
/// at least must go, so each is forbidden in turn, the cheapest outcome looked at first. After many circles all
/// alternatives that provide further goals are forbidden at once and the result is not exact. Throws what `search`
/// throws when nothing is left.
SearchResult search_without_circles(const SearchProblem& problem,
                                    const std::function<SearchResult(const SearchProblem&)>& search);

}  // namespace cairn::inline v0::select
