#pragma once

#include "fuse/tiles.hpp"

#include <vector>

/// Tiles that end in an append: what computes new rows of a state may write them where they belong.
namespace cairn::inline v0::fuse {

/// For each append to a state, and each tile whose only output is what is appended, or becomes that by transposing and
/// reshaping it, one more: it provides the version that the append makes, and not what it computes.
///
///     %4 = mul %2, %3   %5 = transpose %4   %6 = state_append %0, %5
///     mul (%2, %3) -> (%4)     and     mul (%2, %3) -> (%6) over %4, %5
///
/// Tiles that move elements only give none: the append does that itself.
std::vector<Tile> ending_in_appends(const ir::GraphData& graph, const expand::Classes& classes,
                                    const std::vector<Tile>& tiles);

/// True of movements by which every element stays, once.
bool keeps_all(ir::Op op);

}  // namespace cairn::inline v0::fuse
