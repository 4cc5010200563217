#include "io/onnx_operators/scatter.hpp"

#include "io/onnx_operators/index_positions.hpp"
#include "io/onnx_operators/wide.hpp"

#include "io/onnx_node/known_index.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>

/// ScatterElements and ScatterND.
namespace cairn::inline v0::onnx {
namespace {

using Combine = Tensor (*)(const Tensor& old, const Tensor& update);

/// Null: updates replace elements. Booleans are combined as 0 and 1 of u8: their sum is `or`.
Combine combine_of(const Node& node) {
    std::string reduction = node.text("reduction", "none");
    if (reduction == "none") return nullptr;
    if (node.type(0) == ElementType::boolean && (reduction == "add" || reduction == "mul"))
        reduction = reduction == "add" ? "max" : "min";
    if (reduction == "add") return [](const Tensor& old, const Tensor& update) { return old + update; };
    if (reduction == "mul") return [](const Tensor& old, const Tensor& update) { return old * update; };
    if (reduction == "max") return [](const Tensor& old, const Tensor& update) { return max(old, update); };
    if (reduction == "min") return [](const Tensor& old, const Tensor& update) { return min(old, update); };
    node.refuse(fmt::format("its reduction '{}' is unknown", reduction));
}

/// The dtype in which updates are combined.
DType dtype_of_combining(DType dtype) { return dtype == DType::boolean ? DType::u8 : wide_dtype(dtype); }

/// The elements `distance` before each along an axis, and fill where there is none.
Tensor elements_before(const Tensor& x, int axis, std::int64_t distance, double fill) {
    return cairn::slice(pad(x, axis, distance, 0, fill), axis, 0, x.dim(axis));
}

/// Updates and the indices they go to.
struct Updates {
    Tensor indices, values;
};

/// Updates ordered along an axis by their indices, of which the last one of equal indices is the reduction of all of
/// them: it is the one that a scatter keeps. The indices have the rank of the values, or one axis.
Updates combined_updates(const Updates& updates, int axis, Combine combine) {
    const Tensor order = argsort(updates.indices, axis);
    Updates result{take_along_axis(updates.indices, order, axis), {}};
    const bool is_list = updates.indices.rank() < updates.values.rank();
    result.values = is_list ? gather(updates.values, order, axis) : take_along_axis(updates.values, order, axis);
    const Dim count = updates.indices.dim(axis);
    Shape column(static_cast<std::size_t>(updates.values.rank()), 1);
    column[0] = count;
    for (std::int64_t distance = 1; distance < count.upper_bound(); distance *= 2) {
        const Tensor is_same = elements_before(result.indices, axis, distance, -2) == result.indices;
        result.values = where(is_list ? reshape(is_same, column) : is_same,
                              combine(elements_before(result.values, axis, distance, 0), result.values), result.values);
    }
    return result;
}

/// x with updates at rows, of which none is updated twice or the last one counts.
Tensor scattered(const Tensor& x, const Tensor& rows, const Tensor& updates, Combine combine) {
    return scatter(x, rows, combine == nullptr ? updates : combine(gather(x, rows, 0), updates), 0);
}

/// The axes from `begin` on, after one of `rows`.
Shape shape_of_rows(const Dim& rows, const Shape& shape, std::size_t begin) {
    Shape result{rows};
    result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(begin), shape.end());
    return result;
}

}  // namespace

void make_scatter_elements(Node& node) {
    const Tensor data = node.tensor(0);
    const Combine combine = combine_of(node);
    const DType dtype = combine == nullptr ? data.dtype() : dtype_of_combining(data.dtype());
    const int axis = node.axis(node.integer("axis", 0), data.rank());
    std::vector<Coordinate> coordinates = coordinates_of_elements(node, data.shape(), axis);
    Coordinate& indexed = coordinates[static_cast<std::size_t>(axis)];
    Updates updates{indexed.at, as_dtype(node.tensor(2), dtype)};
    if (!(updates.values.shape() == updates.indices.shape()))
        node.refuse(fmt::format("its indices {} and updates {} differ in shape", to_string(updates.indices.shape()),
                                to_string(updates.values.shape())));
    if (combine != nullptr) updates = combined_updates(updates, axis, combine);
    indexed.at = updates.indices;
    const Dim count = element_count(updates.values.shape());
    const Tensor x = reshape(as_dtype(data, dtype), {element_count(data.shape())});
    const Tensor result =
        scattered(x, reshape(position_of(coordinates), {count}), reshape(updates.values, {count}), combine);
    node.set(0, as_dtype(reshape(result, data.shape()), data.dtype()));
}

void make_scatter_nd(Node& node) {
    const Tensor data = node.tensor(0);
    const Combine combine = combine_of(node);
    const DType dtype = combine == nullptr ? data.dtype() : dtype_of_combining(data.dtype());
    const Shape shape = data.shape();
    const std::size_t length = tuple_length(node, 1, shape.size());
    Shape tuples = node.shape(1);
    tuples.pop_back();
    Shape expected = tuples;
    expected.insert(expected.end(), shape.begin() + static_cast<std::ptrdiff_t>(length), shape.end());
    if (!(node.shape(2) == expected))
        node.refuse(fmt::format("its updates are {} instead of {}", to_string(node.shape(2)), to_string(expected)));
    const Tensor positions = position_of(coordinates_of_tuples(node, 1, std::span(shape).first(length)));
    const Dim count = element_count(tuples);
    Updates updates{reshape(positions, {count}),
                    reshape(as_dtype(node.tensor(2), dtype), shape_of_rows(count, shape, length))};
    if (combine != nullptr) updates = combined_updates(updates, 0, combine);
    const Dim rows = element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(length)));
    const Tensor x = reshape(as_dtype(data, dtype), shape_of_rows(rows, shape, length));
    node.set(0, as_dtype(reshape(scattered(x, updates.indices, updates.values, combine), shape), data.dtype()));
}

namespace {

/// Writes element `from` of the updates to element `to`.
void replace(Known& x, std::size_t to, const Known& updates, std::size_t from) {
    if (x.is_float())
        x.floats[to] = updates.floats[from];
    else
        x.integers[to] = updates.integers[from];
}

}  // namespace

bool fold_scatter_elements(Node& node) {
    const Known &indices = node.elements(1), &updates = node.elements(2);
    Known x = node.elements(0);
    if (combine_of(node) != nullptr || indices.is_float() || x.dims.empty() || x.dims.size() != indices.dims.size() ||
        updates.dims != indices.dims || updates.type != x.type)
        return false;
    const auto axis = static_cast<std::size_t>(node.axis(node.integer("axis", 0), node.rank(0)));
    for (std::size_t other = 0; other < x.dims.size(); ++other)
        if (other != axis && indices.dims[other] > x.dims[other]) return false;
    bool fits = true;
    for_each_index(indices.dims, [&](std::span<const std::int64_t> index) {
        const std::size_t from = element_at(indices.dims, index);
        const auto at = known_index(indices.integers[from], x.dims[axis]);
        fits = fits && at.has_value();
        if (!fits) return;
        std::vector<std::int64_t> target(index.begin(), index.end());
        target[axis] = *at;
        replace(x, element_at(x.dims, target), updates, from);
    });
    if (fits) node.set(0, std::move(x));
    return fits;
}

bool fold_scatter_nd(Node& node) {
    const Known &indices = node.elements(1), &updates = node.elements(2);
    Known x = node.elements(0);
    if (combine_of(node) != nullptr || indices.is_float() || updates.type != x.type || indices.dims.empty())
        return false;
    const std::size_t length = tuple_length(node, 1, x.dims.size());
    std::vector<std::int64_t> expected(indices.dims.begin(), indices.dims.end() - 1);
    expected.insert(expected.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(length), x.dims.end());
    if (updates.dims != expected) return false;
    const std::size_t tuples = indices.integers.size() / length;
    const std::size_t row = tuples == 0 ? 0 : updates.count() / tuples;
    for (std::size_t i = 0; i < tuples; ++i) {
        std::size_t position = 0;
        for (std::size_t j = 0; j < length; ++j) {
            const auto at = known_index(indices.integers[i * length + j], x.dims[j]);
            if (!at.has_value()) return false;
            position = position * static_cast<std::size_t>(x.dims[j]) + static_cast<std::size_t>(*at);
        }
        for (std::size_t j = 0; j < row; ++j) replace(x, position * row + j, updates, i * row + j);
    }
    node.set(0, std::move(x));
    return true;
}

}  // namespace cairn::inline v0::onnx
