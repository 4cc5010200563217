#pragma once

#include "cairn/graph.hpp"

#include <string>

namespace cairn::console {

/// Reads a graph, which must have an output. Throws Error(file) naming the file, the line and the column.
Graph read_graph(const std::string& path);
/// The same for the contents of the file.
Graph graph_of_text(const std::string& text, const std::string& path);

}  // namespace cairn::console
