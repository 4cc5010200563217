#include "io/onnx_operators/element_gather.hpp"

#include "io/onnx_operators/index_positions.hpp"

#include "io/onnx_node/known_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

/// GatherElements and GatherND.
namespace cairn::inline v0::onnx {
namespace {

/// The first `batch` axes of both inputs of GatherND; refuses those that are not equal.
std::size_t batch_of_gather_nd(const Node& node) {
    const Shape data = node.shape(0), indices = node.shape(1);
    const std::int64_t batch = node.integer("batch_dims", 0);
    if (batch < 0 || batch >= std::min(node.rank(0), node.rank(1)))
        node.refuse(fmt::format("batch_dims is {} for ranks {} and {}", batch, data.size(), indices.size()));
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(batch); ++axis)
        if (!(data[axis] == indices[axis]))
            node.refuse(
                fmt::format("the batch axes {} and {} differ", to_string(data[axis]), to_string(indices[axis])));
    return static_cast<std::size_t>(batch);
}

}  // namespace

void make_gather_elements(Node& node) {
    Tensor x = node.tensor(0);
    const int axis = node.axis(node.integer("axis", 0), x.rank());
    const Shape indices = node.shape(1);
    const std::vector<Coordinate> coordinates = coordinates_of_elements(node, x.shape(), axis);
    if (!std::ranges::all_of(coordinates, [&](const Coordinate& one) {
            return one.is_in_range || &one == &coordinates[static_cast<std::size_t>(axis)];
        }))
        return node.set(0, gather(reshape(x, {element_count(x.shape())}), position_of(coordinates), 0));
    // Along other axes there may be fewer indices than elements.
    for (int other = 0; other < x.rank(); ++other) {
        const Dim& size = indices[static_cast<std::size_t>(other)];
        if (other != axis && !(x.dim(other) == size)) x = cairn::slice(x, other, 0, size);
    }
    node.set(0, take_along_axis(x, indices_from_front(node, 1, x.dim(axis)), axis));
}

bool fold_gather_elements(Node& node) {
    const Known &x = node.elements(0), &indices = node.elements(1);
    if (indices.is_float() || x.dims.empty() || x.dims.size() != indices.dims.size()) return false;
    const auto axis = static_cast<std::size_t>(node.axis(node.integer("axis", 0), node.rank(0)));
    for (std::size_t other = 0; other < x.dims.size(); ++other)
        if (other != axis && indices.dims[other] > x.dims[other]) return false;
    std::vector<std::size_t> elements;
    bool fits = true;
    for_each_index(indices.dims, [&](std::span<const std::int64_t> index) {
        const auto at = known_index(indices.integers[element_at(indices.dims, index)], x.dims[axis]);
        fits = fits && at.has_value();
        if (!fits) return;
        std::vector<std::int64_t> source(index.begin(), index.end());
        source[axis] = *at;
        elements.push_back(element_at(x.dims, source));
    });
    if (fits) node.set(0, picked(x, indices.dims, elements));
    return fits;
}

void make_gather_nd(Node& node) {
    const Tensor x = node.tensor(0);
    const Shape shape = x.shape(), indices = node.shape(1);
    const std::size_t batch = batch_of_gather_nd(node), length = tuple_length(node, 1, shape.size() - batch);
    std::vector<Coordinate> coordinates;
    const int positions_rank = static_cast<int>(indices.size()) - 1;
    for (std::size_t axis = 0; axis < batch; ++axis)
        coordinates.push_back(coordinate_of_all(node.graph(), shape[axis], static_cast<int>(axis), positions_rank));
    std::ranges::move(coordinates_of_tuples(node, 1, std::span(shape).subspan(batch, length)),
                      std::back_inserter(coordinates));
    // The indexed axes as one.
    const auto slice_begin = shape.begin() + static_cast<std::ptrdiff_t>(batch + length);
    Shape rows{element_count(Shape(shape.begin(), slice_begin))};
    rows.insert(rows.end(), slice_begin, shape.end());
    node.set(0, gather(reshape(x, rows), position_of(coordinates), 0));
}

bool fold_gather_nd(Node& node) {
    const Known &x = node.elements(0), &indices = node.elements(1);
    if (indices.is_float() || x.dims.empty() || indices.dims.empty()) return false;
    const std::size_t batch = batch_of_gather_nd(node), length = tuple_length(node, 1, x.dims.size() - batch);
    const std::vector<std::int64_t> tuples(indices.dims.begin(), indices.dims.end() - 1);
    const std::vector<std::int64_t> rest(x.dims.begin() + static_cast<std::ptrdiff_t>(batch + length), x.dims.end());
    std::vector<std::int64_t> dims = tuples;
    dims.insert(dims.end(), rest.begin(), rest.end());
    if (elements_of(dims) > most_known_elements) return false;
    std::vector<std::size_t> elements;
    std::size_t next = 0;
    bool fits = true;
    for_each_index(tuples, [&](std::span<const std::int64_t> tuple) {
        std::vector<std::int64_t> source(tuple.begin(), tuple.begin() + static_cast<std::ptrdiff_t>(batch));
        for (std::size_t i = 0; i < length; ++i) {
            const auto at = known_index(indices.integers[next++], x.dims[batch + i]);
            fits = fits && at.has_value();
            source.push_back(at.value_or(0));
        }
        if (!fits) return;
        for_each_index(rest, [&](std::span<const std::int64_t> index) {
            std::vector<std::int64_t> full = source;
            full.insert(full.end(), index.begin(), index.end());
            elements.push_back(element_at(x.dims, full));
        });
    });
    if (fits) node.set(0, picked(x, dims, elements));
    return fits;
}

}  // namespace cairn::inline v0::onnx
