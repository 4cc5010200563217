#pragma once

#include "fusion/match.hpp"
#include "program/program.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/choose/select.hpp"

/// From chosen candidates to a flat program: the end of the compile wing.
namespace cairn::selection {

/// Gives every value a buffer, every candidate an instruction, and brings them into an order: operands first, readers
/// of a state's old contents before the instruction that overwrites them (where that cannot be, the old contents are
/// copied first). What depends on weights only goes into the `bind` section, in the order the run needs it. No memory
/// is planned yet. `matches` are those that candidates are of: what users named of the values inside them is noted.
/// Throws Cancelled on a stop.
program::Program emit(const ir::GraphData& graph, const Selection& selection, Candidates& candidates, int threads,
                      const std::stop_token& stop = {}, std::span<const fusion::Match> matches = {});

/// The names that users gave to the results of a tile, then to values that it computes besides; each once.
std::vector<std::string> user_names_of(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                       const fusion::Match& match);

/// The values of a constant as bytes of its dtype.
std::vector<std::byte> encode(DType dtype, const std::vector<double>& values, std::int64_t count);
/// Those of an i64 constant that needs more digits than a double has.
std::vector<std::byte> encode(const std::vector<std::int64_t>& values, std::int64_t count);

}  // namespace cairn::selection
