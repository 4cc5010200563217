#pragma once

#include "io/onnx_node/node.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Indices as ONNX gives them: negative ones count from the end of their axis.
namespace cairn::inline v0::onnx {

/// The index among `size` elements that a known one means; empty if it is symbolic or out of range.
std::optional<std::int64_t> known_index(const Dim& index, std::int64_t size);
/// The input, of i32 or i64, as indices counted from the front of an axis of `size`. Refuses known ones out of range.
Tensor indices_from_front(const Node& node, std::size_t input, const Dim& size);

/// An index along one axis of a tensor.
struct Coordinate {
    Tensor at;                 ///< i64, counted from the front
    Dim size;                  ///< of the axis
    bool is_in_range = false;  ///< it is known to be; otherwise it is compared in each run
};
Coordinate coordinate(const Node& node, std::size_t input, const Dim& size);
/// All positions 0 .. size - 1, to be broadcast along `axis` of a shape of `rank` axes.
Coordinate coordinate_of_all(const Graph& graph, const Dim& size, int axis, int rank);
/// The places of a tensor `data` that GatherElements and ScatterElements index: input 1 along `axis`, and the positions
/// of its elements along the others.
std::vector<Coordinate> coordinates_of_elements(Node& node, const Shape& data, int axis);
/// The tuples along the last axis of the input, as indices along axes of these sizes.
std::vector<Coordinate> coordinates_of_tuples(const Node& node, std::size_t input, std::span<const Dim> sizes);

/// The row-major position, i64, in the tensor that the coordinates index; -1, with which a gather or scatter makes the
/// run fail, where one of several coordinates is out of range.
Tensor position_of(std::span<const Coordinate> coordinates);

/// The constant size of the last axis of the input: the length of index tuples, 1 .. `most`.
std::size_t tuple_length(const Node& node, std::size_t input, std::size_t most);

}  // namespace cairn::inline v0::onnx
