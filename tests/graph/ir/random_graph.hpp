#pragma once

#include "cairn/graph.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/graph_data.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Random programs for the tests of all folders: the same seed gives the same graph on every platform.
namespace cairn::test {

struct RandomGraphOptions {
    int steps = 24;            ///< ops attempted; a graph has a few more nodes than that
    DType dtype = DType::f32;  ///< of most tensors: any float
    bool symbols = true;       ///< 1 to 3 symbols among the sizes, their bounds at most 0..5
    bool states = true;        ///< in a third of the graphs a state, with versions changed and read in any order
    bool composites = true;    ///< softmax, gelu, layer_norm, attention, ..., called or written out in atomic ops
    bool narrow = true;        ///< occasional casts to f16, bf16, f64, i64, i8, u8 and back
    /// Composites of composites, sizes that shrink when a symbol grows, arithmetic of i8, u8, i32 and i64 that wraps,
    /// and outputs that are interior values or their first rows.
    bool edge_values = false;
    bool devices = false;  ///< copies to the CPU and to a second device, and strided views of them
    /// Convolutions, pools, resizing, channel norms and sorts, and two more symbols, of up to 0..45, with sizes that
    /// are polynomials of them.
    bool spatial = false;
    bool blocks = false;  ///< weights in blocks of a quantized file: read as they are, multiplied, and gathered
};

/// A graph of all kinds of ops: views, broadcasts, reductions, matmul, gather, concat, pad, where, casts, values read
/// more than once, sizes of zero and one, dead nodes. At any sizes its outputs are finite and at most 64 in magnitude,
/// and computing it in f32 in any order of summation errs by less than `error_bound` in each element: discontinuous ops
/// (floor, comparisons, argmax, casts to integers) get exact values only. The same holds for other floats with
/// `error_bound_of`.
Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {});

/// The largest difference of an f32 computation of a random graph from the interpreter's result.
inline constexpr double error_bound = 2e-4;
/// The same for a computation in another float: 64 roundings for f16 and bf16, whose roundings are larger.
constexpr double error_bound_of(DType dtype) noexcept {
    return dtype == DType::f16 ? 64 * 0x1p-11 : dtype == DType::bf16 ? 64 * 0x1p-8 : error_bound;
}

/// Inputs, weights and states for a graph at given sizes: floats are eighths in -2..2, integers in -8..8 (0..k-1 if the
/// name ends in `.below<k>`, as the indices of random graphs do), booleans are fair coin flips. Works for any graph. If
/// `special_in` > 0, one float in `special_in`, except where the name ends so, is NaN, an infinity, a zero of either
/// sign or subnormal, and as many other integers are the least or the greatest of their dtype.
interpreter::Inputs random_inputs(const ir::GraphData& graph, const std::map<std::string, std::int64_t>& sizes,
                                  std::uint64_t seed, int special_in = 0);

/// Values for the symbols: all at their lowest, all at their highest, then random ones; `count` in all.
std::vector<std::map<std::string, std::int64_t>> random_sizes(const ir::GraphData& graph, int count,
                                                              std::uint64_t seed);

/// Describes the first difference of two values: `[3]: 0.5, expected 0.25`; empty if dtype and shape are equal and no
/// float is off by more than `tolerance` (NaN equals NaN, infinities equal themselves).
std::string difference(const interpreter::Value& actual, const interpreter::Value& expected, double tolerance);

}  // namespace cairn::test
