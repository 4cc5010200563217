#include "io/onnx_operators/activations.hpp"
#include "io/onnx_operators/operators.hpp"

#include <array>

namespace cairn::inline v0::onnx {
namespace {

using AlongAxis = Tensor (*)(const Operand& x, int axis);

/// 1 at the first maximum along an axis, otherwise 0.
Tensor hardmax(const Operand& x, int axis) {
    const Dim size = x.tensor().dim(axis);
    if (size == Dim(0)) return x.tensor();
    return one_hot(argmax(x, axis), size, x.tensor().dtype(), axis);
}

template <AlongAxis function>
void make_along_axis(Node& node) {
    node.set(0, function(node.tensor(0), node.axis(node.integer("axis", -1), node.rank(0))));
}

/// Older operator sets take all axes from `axis` on as one.
template <AlongAxis function>
void make_along_flattened(Node& node) {
    const Tensor x = node.tensor(0);
    const int axis = node.axis(node.integer("axis", 1), x.rank());
    if (axis == x.rank() - 1) return node.set(0, function(x, axis));
    const auto kept = x.shape().begin() + axis;
    Shape flat(x.shape().begin(), kept);
    flat.push_back(element_count({kept, x.shape().end()}));
    node.set(0, reshape(function(reshape(x, flat), axis), x.shape()));
}

constexpr std::array<Operator, 6> softmax_rows{{{"Softmax", 1, make_along_flattened<softmax>},
                                                {"Softmax", 13, make_along_axis<softmax>},
                                                {"LogSoftmax", 1, make_along_flattened<log_softmax>},
                                                {"LogSoftmax", 13, make_along_axis<log_softmax>},
                                                {"Hardmax", 1, make_along_flattened<hardmax>},
                                                {"Hardmax", 13, make_along_axis<hardmax>}}};

}  // namespace

std::span<const Operator> softmax_operators() { return softmax_rows; }

}  // namespace cairn::inline v0::onnx
