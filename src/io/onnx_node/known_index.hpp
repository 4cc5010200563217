#pragma once

#include "io/onnx_node/known.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Positions of elements in row-major tensors of known sizes.
namespace cairn::inline v0::onnx {

/// Product of sizes; at most most_known_elements + 1 for larger ones. No size is negative.
std::int64_t elements_of(std::span<const std::int64_t> dims) noexcept;
/// The sizes as numbers; empty if one is symbolic or negative.
std::optional<std::vector<std::int64_t>> constant_dims(const Shape& shape);

/// The tensor of these sizes whose element i is element `elements[i]` of another.
Known picked(const Known& from, std::vector<std::int64_t> dims, const std::vector<std::size_t>& elements);

/// Calls `visit(index)` with the position along each axis, in row-major order.
template <typename Visit>
void for_each_index(std::span<const std::int64_t> dims, Visit visit) {
    const std::int64_t count = elements_of(dims);
    std::vector<std::int64_t> index(dims.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        visit(std::span<const std::int64_t>(index));
        for (std::size_t axis = dims.size(); axis-- > 0;) {
            if (++index[axis] < dims[axis]) break;
            index[axis] = 0;
        }
    }
}

/// The element of a tensor at a position along each of its axes.
std::size_t element_at(std::span<const std::int64_t> dims, std::span<const std::int64_t> index) noexcept;
/// The tensor of these sizes whose element at `index` is that of another at the position that `map(index, position)`
/// sets.
template <typename Map>
Known remapped(const Known& from, std::vector<std::int64_t> dims, Map map) {
    std::vector<std::size_t> elements;
    std::vector<std::int64_t> position(from.dims.size());
    for_each_index(dims, [&](std::span<const std::int64_t> index) {
        map(index, std::span<std::int64_t>(position));
        elements.push_back(element_at(from.dims, position));
    });
    return picked(from, std::move(dims), elements);
}

/// The sizes to which two tensors broadcast; empty if they do not.
std::optional<std::vector<std::int64_t>> broadcast_dims(std::span<const std::int64_t> a,
                                                        std::span<const std::int64_t> b);
/// A tensor repeated to sizes that it broadcasts to.
Known broadcast_to(const Known& from, const std::vector<std::int64_t>& dims);

}  // namespace cairn::inline v0::onnx
