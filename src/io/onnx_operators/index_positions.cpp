#include "io/onnx_operators/index_positions.hpp"

#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

/// What is known at import of indices along an axis.
struct IndexRange {
    bool is_from_front = true;  ///< none is negative
    bool is_in_range = true;
};

/// Of the elements `first`, `first` + `step`, ...
IndexRange index_range(const Node& node, std::size_t input, const Dim& size, std::size_t first, std::size_t step) {
    const Known* const known = node.known(input);
    if (known == nullptr || known->is_float()) return {false, false};
    IndexRange range;
    for (std::size_t i = first; i < known->integers.size(); i += step) {
        const Dim& index = known->integers[i];
        if (provably_le(size, index) || provably_le(index, Dim(-1) - size))
            node.refuse(fmt::format("the index {} is outside an axis of size {}", to_string(index), to_string(size)));
        range.is_from_front = range.is_from_front && provably_le(0, index);
        range.is_in_range = range.is_in_range && provably_le(index + 1, size) && provably_le(-size, index);
    }
    return range;
}

Tensor from_front(const Tensor& indices, const Dim& size, const IndexRange& range) {
    return range.is_from_front ? indices : where(indices < 0, indices + size, indices);
}

}  // namespace

std::optional<std::int64_t> known_index(const Dim& index, std::int64_t size) {
    if (!index.is_constant()) return std::nullopt;
    const std::int64_t counted = index.constant() < 0 ? index.constant() + size : index.constant();
    return counted >= 0 && counted < size ? std::optional(counted) : std::nullopt;
}

Tensor indices_from_front(const Node& node, std::size_t input, const Dim& size) {
    return from_front(node.tensor(input), size, index_range(node, input, size, 0, 1));
}

Coordinate coordinate(const Node& node, std::size_t input, const Dim& size) {
    const IndexRange range = index_range(node, input, size, 0, 1);
    return {from_front(as_dtype(node.tensor(input), DType::i64), size, range), size, range.is_in_range};
}

Coordinate coordinate_of_all(const Graph& graph, const Dim& size, int axis, int rank) {
    Shape line(static_cast<std::size_t>(rank), 1);
    line[static_cast<std::size_t>(axis)] = size;
    return {reshape(iota(graph, size, DType::i64), line), size, true};
}

std::vector<Coordinate> coordinates_of_elements(Node& node, const Shape& data, int axis) {
    const Shape indices = node.shape(1);
    if (data.empty() || indices.size() != data.size()) node.refuse("its data and indices differ in rank");
    std::vector<Coordinate> coordinates;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const int one = static_cast<int>(i);
        if (one == axis) {
            coordinates.push_back(coordinate(node, 1, data[i]));
            continue;
        }
        Coordinate all = coordinate_of_all(node.graph(), indices[i], one, static_cast<int>(data.size()));
        all.size = data[i];
        all.is_in_range = provably_le(indices[i], data[i]);
        coordinates.push_back(std::move(all));
    }
    return coordinates;
}

std::vector<Coordinate> coordinates_of_tuples(const Node& node, std::size_t input, std::span<const Dim> sizes) {
    const Tensor tuples = as_dtype(node.tensor(input), DType::i64);
    Shape shape = tuples.shape();
    shape.pop_back();
    std::vector<Coordinate> coordinates;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const IndexRange range = index_range(node, input, sizes[i], i, sizes.size());
        const auto at = static_cast<std::int64_t>(i);
        const Tensor one = reshape(cairn::slice(tuples, -1, at, at + 1), shape);
        coordinates.push_back({from_front(one, sizes[i], range), sizes[i], range.is_in_range});
    }
    return coordinates;
}

Tensor position_of(std::span<const Coordinate> coordinates) {
    if (coordinates.size() == 1) return coordinates[0].at;
    std::optional<Tensor> position, is_valid;
    for (const Coordinate& one : coordinates) {
        position = position.has_value() ? *position * one.size + one.at : one.at;
        if (one.is_in_range) continue;
        const Tensor fits = one.at >= 0 && one.at < one.size;
        is_valid = is_valid.has_value() ? *is_valid && fits : fits;
    }
    return is_valid.has_value() ? where(*is_valid, *position, -1) : *position;
}

std::size_t tuple_length(const Node& node, std::size_t input, std::size_t most) {
    const Shape shape = node.shape(input);
    if (shape.empty()) node.refuse("its indices are a scalar");
    if (!shape.back().is_constant())
        node.refuse(fmt::format("the length of its index tuples is the size {}", to_string(shape.back())));
    const std::int64_t length = shape.back().constant();
    if (length < 1 || length > static_cast<std::int64_t>(most))
        node.refuse(fmt::format("its index tuples have {} elements for {} axes", length, most));
    return static_cast<std::size_t>(length);
}

}  // namespace cairn::inline v0::onnx
