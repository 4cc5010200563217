#pragma once

#include "fusion/matcher.hpp"

#include <stop_token>
#include <vector>

namespace cairn::fusion {

/// The tiles that match_at() finds at each node of a matcher's graph, in turn. Where a stretch of the graph repeats an
/// earlier one, what was found there is proved anew on the nodes that stand in its place, and nothing else is looked
/// for. Throws Cancelled on a stop.
std::vector<std::vector<Match>> match_all(Matcher& matcher, const std::stop_token& stop = {});

}  // namespace cairn::fusion
