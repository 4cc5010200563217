#pragma once

#include "apps/compare/implementation.hpp"

#include <memory>

namespace cairn::compare {

/// A graph in text form with its weights, as `cairn import` writes them, as an implementation in this process. The
/// values of an answer are the elements of all outputs, in the order of the graph. With `batched` the inputs of a row
/// are those of the graph without their first axis, which counts the rows, and all outputs have it; otherwise they are
/// those of the graph, and a request has one row.
std::unique_ptr<Implementation> make_graph(const ImplementationSettings& implementation, const Settings& settings);

}  // namespace cairn::compare
