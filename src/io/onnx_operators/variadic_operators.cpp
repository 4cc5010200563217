#include "io/onnx_node/known_index.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <array>
#include <cmath>

namespace cairn::inline v0::onnx {
namespace {

using Pairwise = Tensor (*)(const Operand& a, const Operand& b);

/// All inputs combined in their order.
Tensor combined(const Node& node, Pairwise op) {
    Tensor result = wide_of(node.tensor(0));
    for (std::size_t i = 1; i < node.input_count(); ++i) result = op(result, wide_of(node.tensor(i)));
    return result;
}

template <Pairwise op>
void make_variadic(Node& node) {
    node.set(0, as_dtype(combined(node, op), node.dtype(0)));
}

void make_mean(Node& node) {
    const auto count = static_cast<double>(node.input_count());
    node.set(0, as_dtype(combined(node, add) / count, node.dtype(0)));
}

template <bool is_max>
bool fold_extremum(Node& node) {
    Known result = node.require_known(0, "input");
    for (std::size_t i = 1; i < node.input_count(); ++i) {
        const Known& next = node.require_known(i, "input");
        const auto dims = broadcast_dims(result.dims, next.dims);
        if (next.type != result.type || !dims.has_value() || elements_of(*dims) > most_known_elements) return false;
        const Known other = broadcast_to(next, *dims);
        result = broadcast_to(result, *dims);
        for (std::size_t k = 0; k < other.integers.size(); ++k)
            result.integers[k] =
                is_max ? max(result.integers[k], other.integers[k]) : min(result.integers[k], other.integers[k]);
        for (std::size_t k = 0; k < other.floats.size(); ++k) {
            const double a = result.floats[k], b = other.floats[k];
            if (std::isnan(b) || (is_max ? a < b : a > b)) result.floats[k] = b;
        }
    }
    node.set(0, std::move(result));
    return true;
}

constexpr std::array<Operator, 4> variadic_rows{{{"Sum", 6, make_variadic<add>},
                                                 {"Mean", 6, make_mean},
                                                 {"Max", 6, make_variadic<max>, fold_extremum<true>},
                                                 {"Min", 6, make_variadic<min>, fold_extremum<false>}}};

}  // namespace

std::span<const Operator> variadic_operators() { return variadic_rows; }

}  // namespace cairn::inline v0::onnx
