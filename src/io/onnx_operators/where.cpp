#include "io/onnx_node/known_index.hpp"
#include "io/onnx_operators/operators.hpp"

#include <algorithm>

#include <array>

namespace cairn::inline v0::onnx {
namespace {

/// The shape to which shapes broadcast; empty if a size of one may be 1 or that of another.
std::optional<Shape> where_shape(const std::vector<Shape>& shapes) {
    std::size_t rank = 0;
    for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
    Shape result(rank, Dim(1));
    for (const Shape& shape : shapes)
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            Dim& size = result[rank - shape.size() + axis];
            if (size == Dim(1))
                size = shape[axis];
            else if (!(shape[axis] == Dim(1)) && !(shape[axis] == size))
                return std::nullopt;
        }
    return result;
}

/// The input of which all elements are selected, if one is known to be.
std::optional<std::size_t> where_branch(const Node& node) {
    const Known* const condition = node.known(0);
    if (condition == nullptr || condition->count() == 0) return std::nullopt;
    const auto all_are = [&](int truth) {
        return std::ranges::all_of(condition->integers, [&](const Dim& value) { return value == Dim(truth); });
    };
    if (all_are(1)) return 1;
    if (all_are(0)) return 2;
    return std::nullopt;
}

void make_where(Node& node) {
    const std::optional<std::size_t> branch = where_branch(node);
    const std::optional<Shape> shape = where_shape({node.shape(0), node.shape(1), node.shape(2)});
    if (!branch.has_value() || !shape.has_value()) {
        const Tensor condition = node.tensor(0), x = node.tensor(1), y = node.tensor(2);
        return node.set(0, where(condition, x, y));
    }
    if (node.shape(*branch) == *shape) return node.set(0, node.value_ptr(*branch));
    const Known* const elements = node.known(*branch);
    const auto dims = constant_dims(*shape);
    if (elements != nullptr && dims.has_value() && elements_of(*dims) <= most_known_elements)
        return node.set(0, broadcast_to(*elements, *dims));
    node.set(0, broadcast(node.tensor(*branch), *shape));
}

bool fold_where(Node& node) {
    const Known &condition = node.require_known(0, "condition"), &x = node.require_known(1, "X"),
                &y = node.require_known(2, "Y");
    const auto pair = broadcast_dims(x.dims, y.dims);
    const auto dims = pair.has_value() ? broadcast_dims(condition.dims, *pair) : std::nullopt;
    if (x.type != y.type || condition.is_float() || !condition.is_constant() || !dims.has_value() ||
        elements_of(*dims) > most_known_elements)
        return false;
    const Known truths = broadcast_to(condition, *dims), otherwise = broadcast_to(y, *dims);
    Known result = broadcast_to(x, *dims);
    for (std::size_t i = 0; i < truths.count(); ++i) {
        if (!(truths.integers[i] == Dim(0))) continue;
        if (result.is_float())
            result.floats[i] = otherwise.floats[i];
        else
            result.integers[i] = otherwise.integers[i];
    }
    node.set(0, std::move(result));
    return true;
}

constexpr std::array<Operator, 1> where_rows{{{"Where", 9, make_where, fold_where}}};

}  // namespace

std::span<const Operator> where_operators() { return where_rows; }

}  // namespace cairn::inline v0::onnx
