#pragma once

#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/op_table.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Shared by the interpreter's families of ops: evaluation of one op at known sizes, and iteration over strided
/// elements.
namespace cairn::interpreter {

using namespace ir;  // the nodes evaluated here

using Sizes = std::vector<std::int64_t>;

/// One node under evaluation: its operands' values, its shape, and its attributes' values.
struct Evaluation {
    const GraphData& graph;
    NodeId id;
    std::span<const std::int64_t> symbol_values;
    std::vector<const Value*> operands;
    Sizes shape;

    const Node& node() const { return graph.node(id); }
    const Value& operand(std::size_t i) const { return *operands[i]; }
    Sizes list(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    /// The attribute `axis`, counted from the front of operand 0.
    std::size_t axis() const;
    /// A value of the node's dtype and shape, all zero.
    Value result() const;
    [[noreturn]] void fail(const std::string& text) const;
};

/// Computes the result of an op; each family has a table of these.
using EvaluateFunction = Value (*)(const Evaluation& evaluation);

Value evaluate_elementwise(const Evaluation& evaluation);
Value evaluate_reduction(const Evaluation& evaluation);
Value evaluate_matmul(const Evaluation& evaluation);
Value evaluate_movement(const Evaluation& evaluation);
Value evaluate_indexing(const Evaluation& evaluation);
Value evaluate_scan(const Evaluation& evaluation);
Value evaluate_iota(const Evaluation& evaluation);
Value evaluate_state_change(const Evaluation& evaluation);

std::int64_t count(std::span<const std::int64_t> shape) noexcept;
Sizes row_major(std::span<const std::int64_t> shape);
/// The strides that broadcast `shape` to `wider`: 0 on axes that are added or repeated.
Sizes broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> wider);

/// A strided view of a value's elements.
struct View {
    Sizes strides;
    std::int64_t offset = 0;
};

/// The offsets of all elements of `shape` under a view, in row-major order.
std::vector<std::int64_t> element_offsets(std::span<const std::int64_t> shape, const View& view);

/// Calls `f(values)` with the storage of each value for this dtype: `std::vector<double>` or
/// `std::vector<std::int64_t>`.
template <typename F, typename... Values>
void visit_storage(DType dtype, F&& f, Values&... values) {
    if (is_float(dtype))
        f(values.data...);
    else
        f(values.integers...);
}

}  // namespace cairn::interpreter
