#include "io/onnx_operators/operators.hpp"

#include "io/onnx_node/known_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

/// Shapes as values, and operators that change the shape only.
namespace cairn::inline v0::onnx {
namespace {

bool fold_shape(Node& node) {
    const Shape shape = node.shape(0);
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto clamped = [&](std::int64_t axis) {
        return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    const std::int64_t start = clamped(node.integer("start", 0)), end = clamped(node.integer("end", rank));
    node.set(0, Known::list(start < end ? Shape(shape.begin() + start, shape.begin() + end) : Shape()));
    return true;
}

bool fold_size(Node& node) {
    node.set(0, Known::scalar(ElementType::i64, element_count(node.shape(0))));
    return true;
}

/// Gives the value another shape: its elements if they are known and the shape is constant, else the tensor.
void set_reshaped(Node& node, const Shape& shape) {
    const Known* const known = node.known(0);
    const auto dims = constant_dims(shape);
    if (known == nullptr || !dims.has_value() || elements_of(*dims) != static_cast<std::int64_t>(known->count()))
        return node.set(0, reshape(node.tensor(0), shape));
    node.set(0, Known{known->type, *dims, known->integers, known->floats});
}

/// The size that stands for -1: the quotient of all elements and the other sizes.
Dim inferred_size(const Node& node, const Shape& from, const Shape& to) {
    Dim others = 1;
    for (const Dim& dim : to)
        if (!(dim == Dim(-1))) others *= dim;
    const Dim all = element_count(from);
    if (others == Dim(0)) node.refuse("a size of -1 beside one of 0 can be any");
    const Dim size = all / others;
    if (!(size * others == all))
        node.refuse(fmt::format("{} elements cannot be divided by {}", to_string(all), to_string(others)));
    return size;
}

void make_reshape(Node& node) {
    const Shape from = node.shape(0);
    const std::optional<Shape> shape = node.sizes_of("shape", 1);
    if (!shape.has_value()) node.refuse("its shape is missing");
    Shape to = *shape;
    const bool zero_copies = node.integer("allowzero", 0) == 0;
    for (std::size_t axis = 0; axis < to.size(); ++axis)
        if (zero_copies && to[axis] == Dim(0)) {
            if (axis >= from.size()) node.refuse(fmt::format("its size {} is that of an axis that is missing", axis));
            to[axis] = from[axis];
        }
    if (std::ranges::count(to, Dim(-1)) > 1) node.refuse("two of its sizes are -1");
    if (const auto it = std::ranges::find(to, Dim(-1)); it != to.end()) *it = inferred_size(node, from, to);
    set_reshaped(node, to);
}

void make_flatten(Node& node) {
    const Shape from = node.shape(0);
    const auto rank = static_cast<std::int64_t>(from.size());
    std::int64_t axis = node.integer("axis", 1);
    if (axis < -rank || axis > rank) node.refuse(fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
    if (axis < 0) axis += rank;
    set_reshaped(node, {element_count(Shape(from.begin(), from.begin() + axis)),
                        element_count(Shape(from.begin() + axis, from.end()))});
}

void make_squeeze(Node& node) {
    const Shape from = node.shape(0);
    const auto named = node.integers_of("axes", 1);
    std::vector<int> axes;
    if (named.has_value())
        axes = node.axes(*named, node.rank(0));
    else
        for (int axis = 0; axis < node.rank(0); ++axis)
            if (from[static_cast<std::size_t>(axis)] == Dim(1)) axes.push_back(axis);
    Shape to;
    for (int axis = 0; axis < node.rank(0); ++axis) {
        const Dim& size = from[static_cast<std::size_t>(axis)];
        if (std::ranges::find(axes, axis) == axes.end())
            to.push_back(size);
        else if (!(size == Dim(1)))
            node.refuse(fmt::format("it removes the axis {} of size {}", axis, to_string(size)));
    }
    set_reshaped(node, to);
}

void make_unsqueeze(Node& node) {
    const auto named = node.integers_of("axes", 1);
    if (!named.has_value()) node.refuse("its axes are missing");
    const int rank = node.rank(0) + static_cast<int>(named->size());
    const std::vector<int> axes = node.axes(*named, rank);
    const Shape from = node.shape(0);
    Shape to;
    std::size_t next = 0;
    for (int axis = 0; axis < rank; ++axis)
        to.push_back(std::ranges::find(axes, axis) != axes.end() ? Dim(1) : from[next++]);
    set_reshaped(node, to);
}

std::vector<int> permutation_of(const Node& node) {
    const int rank = node.rank(0);
    if (node.has_attribute("perm")) {
        const std::vector<std::int64_t> given = node.integers("perm");
        if (static_cast<int>(given.size()) != rank)
            node.refuse(fmt::format("it permutes {} axes of {}", given.size(), rank));
        return node.axes(given, rank);
    }
    std::vector<int> reversed;
    for (int axis = rank; axis-- > 0;) reversed.push_back(axis);
    return reversed;
}

void make_transpose(Node& node) {
    const std::vector<int> permutation = permutation_of(node);
    node.set(0, permutation.empty() ? node.tensor(0) : transpose(node.tensor(0), permutation));
}

bool fold_transpose(Node& node) {
    const Known& from = node.elements(0);
    const std::vector<int> permutation = permutation_of(node);
    std::vector<std::int64_t> dims;
    for (const int axis : permutation) dims.push_back(from.dims[static_cast<std::size_t>(axis)]);
    const auto source = [&](std::span<const std::int64_t> index, std::span<std::int64_t> position) {
        for (std::size_t axis = 0; axis < index.size(); ++axis)
            position[static_cast<std::size_t>(permutation[axis])] = index[axis];
    };
    node.set(0, remapped(from, std::move(dims), source));
    return true;
}

/// The shape to which two shapes broadcast in both directions.
Shape expanded_shape(const Node& node, const Shape& from, const Shape& to) {
    Shape result(std::max(from.size(), to.size()), Dim(1));
    for (std::size_t i = 1; i <= result.size(); ++i) {
        const Dim a = i <= from.size() ? from[from.size() - i] : Dim(1);
        const Dim b = i <= to.size() ? to[to.size() - i] : Dim(1);
        const bool takes_b = a == Dim(1) || (b.is_constant() && !(b == Dim(1)) && !a.is_constant());
        if (!takes_b && !(b == Dim(1)) && !(a == b) && !a.is_constant())
            node.refuse(fmt::format("whether the sizes {} and {} are equal is not known", to_string(a), to_string(b)));
        result[result.size() - i] = takes_b ? b : a;
    }
    return result;
}

void make_expand(Node& node) {
    node.set(0, broadcast(node.tensor(0), expanded_shape(node, node.shape(0), node.sizes(1, "shape"))));
}

bool fold_expand(Node& node) {
    const auto dims = constant_dims(expanded_shape(node, node.shape(0), node.sizes(1, "shape")));
    if (!dims.has_value() || elements_of(*dims) > most_known_elements) return false;
    if (broadcast_dims(node.elements(0).dims, *dims) != dims) return false;  // the maker names the fault
    node.set(0, broadcast_to(node.elements(0), *dims));
    return true;
}

constexpr std::array<Operator, 8> shape_rows{{{"Shape", 1, nullptr, fold_shape},
                                              {"Size", 1, nullptr, fold_size},
                                              {"Reshape", 5, make_reshape},
                                              {"Flatten", 1, make_flatten},
                                              {"Squeeze", 1, make_squeeze},
                                              {"Unsqueeze", 1, make_unsqueeze},
                                              {"Transpose", 1, make_transpose, fold_transpose},
                                              {"Expand", 8, make_expand, fold_expand}}};

}  // namespace

std::span<const Operator> shape_operators() { return shape_rows; }

}  // namespace cairn::inline v0::onnx
