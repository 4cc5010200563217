#pragma once

#include "tests/graph/ir/random_graph.hpp"

#include <vector>

/// Expected results of a graph on inputs with NaN, infinities and subnormals, and the allowed error of a run.
namespace cairn::test {

/// The interpreter's results, and those of the same graph with each float rounded to its dtype.
struct ReferenceResults {
    interpreter::Results exact, rounded;
    /// If inputs are not finite and a product is a factor of another one: the outputs with 0, and with NaN, in place of
    /// what is not finite in either factor. Chains of products may be reassociated, so what such values give is
    /// unspecified.
    std::vector<interpreter::Results> finite_factors;
};
ReferenceResults reference_results(const ir::GraphData& graph, const interpreter::Inputs& inputs);

/// The first difference of a run, with the output's name; empty if there is none. If all results agree that an element
/// is NaN, an infinity or a number, it must be so; numbers may differ by `error_bound_of` their dtype times the larger
/// of 1 and the number, plus 64 times the difference of the two results. If they disagree, rounding decides, and any
/// value is accepted. Integers are equal, unless the results differ. The sign of a zero is ignored.
std::string difference(const interpreter::Results& actual, const ReferenceResults& expected);

/// The same graph with each float result rounded to its dtype, as a machine computes it; without states.
ir::GraphData rounded(const ir::GraphData& graph);

}  // namespace cairn::test
