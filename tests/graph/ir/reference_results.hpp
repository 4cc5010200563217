#pragma once

#include "tests/graph/ir/random_graph.hpp"

/// What a graph means on inputs that hold NaN, infinities and subnormals, and how far a run may be from it.
namespace cairn::test {

/// The interpreter's results, and those of the same graph with each float rounded to its dtype.
struct ReferenceResults {
    interpreter::Results exact, rounded;
};
ReferenceResults reference_results(const ir::GraphData& graph, const interpreter::Inputs& inputs);

/// The first difference of a run, with the output's name; empty when there is none. Where the two judges agree that an
/// element is NaN, an infinity or a number, it must be so, and numbers may differ by `error_bound_of` its dtype times
/// the larger of 1 and the number, and by what rounding moved the second judge, many times over. Where they do not,
/// rounding decides, and anything goes. Integers are equal. The sign of a zero is not looked at.
std::string difference(const interpreter::Results& actual, const ReferenceResults& expected);

/// The same graph with each float result rounded to its dtype, as a machine computes it; without states.
ir::GraphData rounded(const ir::GraphData& graph);

}  // namespace cairn::test
