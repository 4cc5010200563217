#pragma once

#include "cairn/graph.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0 {

/// A tensor that crosses the border of a graph: what a program gives it, and what it gets of it.
struct GraphPort {
    /// What is given for each run, is bound once, outlives runs, or comes of each run.
    enum class Kind : std::uint8_t { input, weight, state, output };
    Kind kind = Kind::input;    ///< one of the four
    std::string name;           ///< under which it is given or asked for
    DType dtype = DType::f32;   ///< of the elements
    Shape shape;                ///< of a state its live part before a run
    int axis = -1;              ///< of a state: the one it grows along; -1: none
    std::int64_t capacity = 0;  ///< of that axis
    /// Of an integer input that says which elements are read or written, as it is or by way of other integers: as many
    /// as the smallest axis has that it is an index of. Where it is one itself, the values from 0 on below this are
    /// the legal ones.
    std::optional<Dim> index_limit = {};
};

/// All of them, in this order: inputs, weights, states, outputs, each kind as the graph has them.
///
///     for (const GraphPort& port : ports(parse_graph(text)))
///         if (port.kind == GraphPort::Kind::input) std::cout << port.name << " : " << to_string(port.dtype,
///         port.shape);
CAIRN_API std::vector<GraphPort> ports(const Graph& graph);

}  // namespace cairn::inline v0
