#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <array>

namespace cairn::inline v0::onnx {
namespace {

using ArgOp = Tensor (*)(const Operand& x, int axis, bool keepdims);
using ScanReduceOp = Tensor (*)(const Operand& x, const IntList& axes, bool keepdims);

/// The index of the last extremum; NaN counts as one.
Tensor last_index(const Tensor& x, int axis, bool keepdims, ScanReduceOp extremum) {
    Tensor is_extremum = x == extremum(x, axis, true);
    if (is_float(x.dtype())) is_extremum = is_extremum || x != x;
    Shape column(static_cast<std::size_t>(x.rank() - axis), Dim(1));
    column[0] = x.dim(axis);
    const Tensor positions = reshape(iota(Graph(x.graph()), x.dim(axis), DType::i64), column);
    return max_reduce(where(is_extremum, positions, -1), axis, keepdims);
}

template <ArgOp first, ScanReduceOp extremum>
void make_arg(Node& node) {
    const Tensor x = node.tensor(0);
    const int axis = node.axis(node.integer("axis", 0), x.rank());
    const bool keepdims = node.integer("keepdims", 1) != 0;
    if (x.dim(axis) == Dim(0)) node.refuse("its axis is empty");
    node.set(0, node.integer("select_last_index", 0) != 0 ? last_index(x, axis, keepdims, extremum)
                                                          : cast(first(x, axis, keepdims), DType::i64));
}

Tensor reversed(const Tensor& x, int axis) {
    const Tensor positions = iota(Graph(x.graph()), x.dim(axis), DType::i64);
    return gather(x, x.dim(axis) - 1 - positions, axis);
}

/// x moved `count` positions to the end of an axis; `value` takes the free ones.
Tensor moved_to_end(const Tensor& x, int axis, const Dim& count, double value) {
    return slice(pad(x, axis, count, 0, value), axis, 0, x.dim(axis));
}

/// Cumulative product: after step k each element is the product of the 2^k elements that end there.
Tensor cumulative_product(const Tensor& x, int axis) {
    Tensor y = x;
    const std::int64_t longest = x.dim(axis).upper_bound();
    for (std::int64_t reach = 1; reach < longest; reach *= 2) y = moved_to_end(y, axis, reach, 1) * y;
    return y;
}

Tensor cumulative_sum(const Tensor& x, int axis) { return cumsum(x, axis); }

/// A scan that begins with `start`, from either end, of the elements up to each or before it.
template <Tensor (*scan)(const Tensor& x, int axis), int start>
Tensor scanned(const Node& node, const Tensor& x) {
    const int axis = node.axis(node.integer(1, "axis"), x.rank());
    const bool is_reverse = node.integer("reverse", 0) != 0;
    Tensor y = scan(is_reverse ? reversed(x, axis) : x, axis);
    if (node.integer("exclusive", 0) != 0) y = moved_to_end(y, axis, 1, start);
    return is_reverse ? reversed(y, axis) : y;
}

void make_cum_sum(Node& node) { node.set(0, scanned<cumulative_sum, 0>(node, node.tensor(0))); }

// The products of a part may exceed the range where those from the beginning do not: floats are computed in f64.
void make_cum_prod(Node& node) {
    const Tensor x = node.tensor(0);
    const Tensor wide = is_float(x.dtype()) ? as_dtype(x, DType::f64) : x;
    node.set(0, as_dtype(scanned<cumulative_product, 1>(node, wide), x.dtype()));
}

constexpr std::array<Operator, 4> scan_rows{{{"ArgMax", 1, make_arg<argmax, max_reduce>},
                                             {"ArgMin", 1, make_arg<argmin, min_reduce>},
                                             {"CumSum", 11, make_cum_sum},
                                             {"CumProd", 26, make_cum_prod}}};

}  // namespace

std::span<const Operator> scan_operators() { return scan_rows; }

}  // namespace cairn::inline v0::onnx
