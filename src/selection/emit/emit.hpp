#pragma once

#include "fusion/match.hpp"
#include "program/program.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/choose/select.hpp"

/// Emission: converts chosen candidates to a flat program.
namespace cairn::selection {

/// Gives every value a buffer and every candidate an instruction, and orders the instructions: operands first, readers
/// of a state's old contents before the instruction that overwrites them (if that is impossible, the old contents are
/// copied first). Instructions that depend on weights alone go into the `bind` section, in the order the run needs
/// them. No memory is planned yet. `matches` are the matches of the candidates; the user's names of values inside them
/// are recorded. Throws Cancelled on a stop.
program::Program emit(const ir::GraphData& graph, const Selection& selection, Candidates& candidates, int threads,
                      const std::stop_token& stop = {}, std::span<const fusion::Match> matches = {});

/// The names that users gave to the results of a match, then to its interior values; each once.
std::vector<std::string> user_names_of(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                       const fusion::Match& match);

/// The values of a constant as bytes of its dtype.
std::vector<std::byte> encode(DType dtype, const std::vector<double>& values, std::int64_t count);
/// The same for an i64 constant whose values exceed the precision of double.
std::vector<std::byte> encode(const std::vector<std::int64_t>& values, std::int64_t count);

}  // namespace cairn::selection
