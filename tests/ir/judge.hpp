#pragma once

#include "tests/ir/random_graph.hpp"

/// What a graph means on inputs that hold NaN, infinities and subnormals, and how far a run may be from it.
namespace cairn::test {

/// The interpreter's results, and those of the same graph with each float rounded to its dtype.
struct Judged {
    meaning::Results exact, rounded;
};
Judged judge(const ir::GraphData& graph, const meaning::Inputs& inputs);

/// The first difference of a run, with the output's name; empty when there is none. Where the two judges agree that an
/// element is NaN, an infinity or a number, it must be so, and numbers may differ by `error_bound_of` its dtype times
/// the larger of 1 and the number, and by what rounding moved the second judge, many times over. Where they do not,
/// rounding decides, and anything goes. Integers are equal. The sign of a zero is not looked at.
std::string difference(const meaning::Results& actual, const Judged& expected);

/// The same graph with each float result rounded to its dtype, as a machine computes it; without states.
ir::GraphData rounded(const ir::GraphData& graph);

}  // namespace cairn::test
