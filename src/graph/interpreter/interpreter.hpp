#pragma once

#include "graph/ir/graph_data.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

/// The float64 reference interpreter of a graph. Slow and plain on purpose; shares no code with any kernel.
namespace cairn::interpreter {

using ir::GraphData;

/// A tensor of the interpreter. Floats are computed in double and never rounded, except that `cast` rounds to its
/// target and constants to their dtype; integers wrap to their dtype and are exact (i64 too, kept in `integers`).
struct Value {
    DType dtype = DType::f64;
    std::vector<std::int64_t> shape;
    std::vector<double> data;            ///< of floats, row-major
    std::vector<std::int64_t> integers;  ///< of integers and booleans
    std::size_t size() const noexcept { return is_float(dtype) ? data.size() : integers.size(); }
};

struct Inputs {
    std::map<std::string, std::int64_t> sizes;  ///< value of each symbol
    std::map<std::string, Value>
        tensors;  ///< inputs and weights by name, and the live part of each state before the run
};

struct Results {
    std::map<std::string, Value> outputs;
    std::map<std::string, Value> states;  ///< the live part of each state after the run
};

/// Rounds a computed number to a float dtype.
using Rounding = std::function<double(DType dtype, double number)>;

/// Computes all outputs. Throws Error(argument) on a missing or misshapen input or an index out of range. `rounding`,
/// if given, is applied to every float that an op computes.
Results interpret(const GraphData& graph, const Inputs& inputs, const Rounding& rounding = nullptr);

/// A value with these elements, each rounded to dtype.
Value make_value(DType dtype, std::vector<std::int64_t> shape, std::span<const double> elements);

/// Values of every node, for tests that compare interior values.
std::vector<Value> interpret_nodes(const GraphData& graph, const Inputs& inputs);

}  // namespace cairn::interpreter
