#pragma once

#include "cairn/graph.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0 {

/// An input, weight, state or output of a graph.
struct GraphPort {
    /// Given for each run, bound once, kept across runs, or computed by each run.
    enum class Kind : std::uint8_t { input, weight, state, output };
    Kind kind = Kind::input;    ///< which of the four
    std::string name;           ///< the name it is set, bound or read by
    DType dtype = DType::f32;   ///< of the elements
    Shape shape;                ///< of a state: its live part before a run
    int axis = -1;              ///< of a state: the axis it grows along; -1: none
    std::int64_t capacity = 0;  ///< of that axis
    /// For an integer input used as an index, directly or through other integers: the size of the smallest axis that it
    /// indexes. If used directly, legal values are 0 .. index_limit - 1.
    std::optional<Dim> index_limit = {};
};

/// All ports in this order: inputs, weights, states, outputs; each kind in the order of the graph.
///
///     for (const GraphPort& port : ports(parse_graph(text)))
///         if (port.kind == GraphPort::Kind::input)
///             std::cout << port.name << " : " << to_string(port.dtype, port.shape);
CAIRN_API std::vector<GraphPort> ports(const Graph& graph);

}  // namespace cairn::inline v0
