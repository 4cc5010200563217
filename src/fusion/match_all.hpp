#pragma once

#include "fusion/matcher.hpp"

#include <stop_token>
#include <vector>

namespace cairn::fusion {

/// The matches that match_at() finds at each node of a matcher's graph, in order. If a stretch of the graph repeats an
/// earlier one, the matches found there are proved again on the corresponding nodes, without a search. Throws Cancelled
/// on a stop.
std::vector<std::vector<Match>> match_all(Matcher& matcher, const std::stop_token& stop = {});

}  // namespace cairn::fusion
