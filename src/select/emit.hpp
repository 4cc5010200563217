#pragma once

#include "expand/classes.hpp"
#include "fuse/tiles.hpp"
#include "program/program.hpp"
#include "select/select.hpp"

/// From chosen candidates to a flat program: the end of the compile wing.
namespace cairn::inline v0::select {

/// Gives every value a buffer, every candidate an instruction, and brings them into an order: operands first, readers
/// of a state's old contents before the instruction that overwrites them (where that cannot be, the old contents are
/// copied first). What depends on weights only goes into the `bind` section, in the order the run needs it. No memory
/// is planned yet. `tiles` are those that candidates are of: what users named of the values inside them is noted.
/// Throws Cancelled on a stop.
program::Program emit(const ir::GraphData& graph, const Selection& selection, Candidates& candidates, int threads,
                      const std::stop_token& stop = {}, std::span<const fuse::Tile> tiles = {});

/// The names that users gave to the results of a tile, then to values that it computes besides; each once.
std::vector<std::string> names_in(const ir::GraphData& graph, const expand::Classes& classes, const fuse::Tile& tile);

/// The values of a constant as bytes of its dtype.
std::vector<std::byte> encode(DType dtype, const std::vector<double>& values, std::int64_t count);
/// Those of an i64 constant that needs more digits than a double has.
std::vector<std::byte> encode(const std::vector<std::int64_t>& values, std::int64_t count);

}  // namespace cairn::inline v0::select
