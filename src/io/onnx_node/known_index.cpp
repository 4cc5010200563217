#include "io/onnx_node/known_index.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::onnx {

std::int64_t elements_of(std::span<const std::int64_t> dims) noexcept {
    std::int64_t count = 1;
    for (const std::int64_t size : dims) {
        if (size == 0) return 0;
        count = count > most_known_elements || size > most_known_elements
                    ? most_known_elements + 1
                    : std::min(count * size, most_known_elements + 1);
    }
    return std::ranges::find(dims, 0) != dims.end() ? 0 : count;
}

std::optional<std::vector<std::int64_t>> constant_dims(const Shape& shape) {
    std::vector<std::int64_t> dims;
    for (const Dim& dim : shape) {
        if (!dim.is_constant() || dim.constant() < 0) return std::nullopt;
        dims.push_back(dim.constant());
    }
    return dims;
}

Known picked(const Known& from, std::vector<std::int64_t> dims, const std::vector<std::size_t>& elements) {
    Known result{from.type, std::move(dims), {}, {}};
    for (const std::size_t element : elements)
        if (from.is_float())
            result.floats.push_back(from.floats[element]);
        else
            result.integers.push_back(from.integers[element]);
    return result;
}

std::size_t element_at(std::span<const std::int64_t> dims, std::span<const std::int64_t> index) noexcept {
    std::int64_t element = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) element = element * dims[axis] + index[axis];
    return static_cast<std::size_t>(element);
}

std::optional<std::vector<std::int64_t>> broadcast_dims(std::span<const std::int64_t> a,
                                                        std::span<const std::int64_t> b) {
    const std::size_t rank = std::max(a.size(), b.size());
    std::vector<std::int64_t> dims(rank, 1);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const std::int64_t x = axis + a.size() >= rank ? a[axis + a.size() - rank] : 1;
        const std::int64_t y = axis + b.size() >= rank ? b[axis + b.size() - rank] : 1;
        if (x != y && x != 1 && y != 1) return std::nullopt;
        dims[axis] = x == 1 ? y : x;
    }
    return dims;
}

Known broadcast_to(const Known& from, const std::vector<std::int64_t>& dims) {
    return remapped(from, dims, [&](std::span<const std::int64_t> index, std::span<std::int64_t> position) {
        const std::size_t skipped = index.size() - position.size();
        for (std::size_t axis = 0; axis < position.size(); ++axis)
            position[axis] = from.dims[axis] == 1 ? 0 : index[axis + skipped];
    });
}

}  // namespace cairn::inline v0::onnx
