#pragma once

#include "fuse/match.hpp"

#include <optional>

namespace cairn::inline v0::fuse {

/// Looks for one pattern at one node: lays the skeleton's regions over the graph's, mark on mark, and proposes operands
/// and numbers to Matcher::prove until one is proved or the guesses are used up.
std::optional<Tile> search(Matcher& matcher, const Pattern& pattern, ir::NodeId root);

}  // namespace cairn::inline v0::fuse
