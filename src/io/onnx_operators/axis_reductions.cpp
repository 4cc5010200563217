#include "io/onnx_node/known_index.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace cairn::inline v0::onnx {
namespace {

/// What a reduction is over.
struct ReducedAxes {
    std::vector<int> axes;
    bool keeps = true;
    /// None: elements are not combined, only what is done to single ones remains.
    bool is_none() const noexcept { return axes.empty(); }
};

/// The axes of a node, an attribute or an input; by default all, or none if the node says so.
ReducedAxes reduced_axes(const Node& node) {
    const int rank = node.rank(0);
    const bool is_empty_input = node.has(1) && node.shape(1) == Shape{0};
    const std::vector<std::int64_t> named = is_empty_input
                                                ? std::vector<std::int64_t>()
                                                : node.integers_of("axes", 1).value_or(std::vector<std::int64_t>());
    ReducedAxes reduced{node.axes(named, rank), node.integer("keepdims", 1) != 0};
    if (named.empty() && node.integer("noop_with_empty_axes", 0) == 0) {
        reduced.axes.resize(static_cast<std::size_t>(rank));
        std::iota(reduced.axes.begin(), reduced.axes.end(), 0);
    }
    return reduced;
}

using ReduceOp = Tensor (*)(const Operand& x, const IntList& axes, bool keepdims);

Tensor reduced(ReduceOp op, const Tensor& x, const ReducedAxes& over) {
    return over.is_none() ? x : op(x, over.axes, over.keeps);
}

template <ReduceOp op>
void make_reduction(Node& node) {
    node.set(0, reduced(op, node.tensor(0), reduced_axes(node)));
}

template <ReduceOp op, ReduceOp on_booleans>
void make_extremum(Node& node) {
    const Tensor x = node.tensor(0);
    node.set(0, reduced(x.dtype() == DType::boolean ? on_booleans : op, x, reduced_axes(node)));
}

/// The mean of integers is truncated toward zero.
void make_reduce_mean(Node& node) {
    const Tensor x = node.tensor(0);
    const ReducedAxes over = reduced_axes(node);
    if (is_float(x.dtype())) return node.set(0, reduced(mean, x, over));
    Dim count = 1;
    for (const int axis : over.axes) count *= x.dim(axis);
    node.set(0, as_dtype(reduced(sum, as_dtype(x, DType::i64), over) / count, x.dtype()));
}

/// Sets the result of a function of floats; integers go by way of f64 and are truncated.
template <Tensor (*function)(const Tensor& x, const ReducedAxes& over)>
void make_float_reduction(Node& node) {
    const Tensor x = node.tensor(0);
    const Tensor wide = is_float(x.dtype()) ? wide_of(x) : cast(x, DType::f64);
    node.set(0, as_dtype(function(wide, reduced_axes(node)), x.dtype()));
}

Tensor l2_norm(const Tensor& x, const ReducedAxes& over) {
    return over.is_none() ? abs(x) : sqrt(reduced(sum, x * x, over));
}

Tensor log_sum(const Tensor& x, const ReducedAxes& over) { return log(reduced(sum, x, over)); }

// An infinite maximum is not subtracted: e^(x - m) would be NaN there.
Tensor log_sum_exp(const Tensor& x, const ReducedAxes& over) {
    if (over.is_none()) return x;
    const Tensor largest = max_reduce(x, over.axes, true);
    const Tensor is_infinite = abs(largest) == std::numeric_limits<double>::infinity();
    const Tensor shift = where(is_infinite, 0, largest);
    const Tensor logarithm = log(sum(exp(x - shift), over.axes, true)) + shift;
    return over.keeps ? logarithm : squeeze(logarithm, over.axes);
}

void make_reduce_l1(Node& node) {
    const Tensor x = wide_of(node.tensor(0));
    node.set(0, as_dtype(reduced(sum, abs(x), reduced_axes(node)), node.dtype(0)));
}

void make_reduce_sum_square(Node& node) {
    const Tensor x = wide_of(node.tensor(0));
    node.set(0, as_dtype(reduced(sum, x * x, reduced_axes(node)), node.dtype(0)));
}

using CombineSizes = Dim (*)(const Dim& a, const Dim& b);

Dim size_min(const Dim& a, const Dim& b) { return min(a, b); }
Dim size_max(const Dim& a, const Dim& b) { return max(a, b); }

/// Combines known integers over axes. The first element of each result is combined with `start`, if there is one.
template <CombineSizes combine, int start = -1>
bool fold_reduction(Node& node) {
    const Known& x = node.require_known(0, "data");
    if (x.is_float()) return false;
    const ReducedAxes over = reduced_axes(node);
    std::vector<std::int64_t> kept = x.dims, dims;
    for (std::size_t axis = 0; axis < x.dims.size(); ++axis)
        if (std::ranges::find(over.axes, static_cast<int>(axis)) != over.axes.end()) {
            kept[axis] = 1;
            if (over.keeps) dims.push_back(1);
        } else
            dims.push_back(x.dims[axis]);
    std::vector<std::optional<Dim>> results(static_cast<std::size_t>(elements_of(kept)));
    if constexpr (start >= 0) std::ranges::fill(results, Dim(start));
    std::size_t element = 0;
    for_each_index(x.dims, [&](std::span<const std::int64_t> index) {
        std::vector<std::int64_t> at(index.begin(), index.end());
        for (const int axis : over.axes) at[static_cast<std::size_t>(axis)] = 0;
        std::optional<Dim>& result = results[element_at(kept, at)];
        const Dim& value = x.integers[element++];
        result = result.has_value() ? combine(*result, value) : value;
    });
    Known known{x.type, std::move(dims), {}, {}};
    for (const std::optional<Dim>& result : results) {
        if (!result.has_value()) return false;
        known.integers.push_back(result->is_constant() ? Dim(wrapped_to(x.type, result->constant())) : *result);
    }
    node.set(0, std::move(known));
    return true;
}

constexpr std::array<Operator, 10> axis_reduction_rows{
    {{"ReduceSum", 1, make_reduction<sum>, fold_reduction<wrapping_sum, 0>},
     {"ReduceProd", 1, make_reduction<prod>, fold_reduction<wrapping_product, 1>},
     {"ReduceMax", 1, make_extremum<max_reduce, any>, fold_reduction<size_max>},
     {"ReduceMin", 1, make_extremum<min_reduce, all>, fold_reduction<size_min>},
     {"ReduceMean", 1, make_reduce_mean},
     {"ReduceL1", 1, make_reduce_l1},
     {"ReduceL2", 1, make_float_reduction<l2_norm>},
     {"ReduceLogSum", 1, make_float_reduction<log_sum>},
     {"ReduceLogSumExp", 1, make_float_reduction<log_sum_exp>},
     {"ReduceSumSquare", 1, make_reduce_sum_square}}};

}  // namespace

std::span<const Operator> axis_reduction_operators() { return axis_reduction_rows; }

}  // namespace cairn::inline v0::onnx
