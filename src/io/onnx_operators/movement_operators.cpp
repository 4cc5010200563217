#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/slice.hpp"
#include "io/onnx_operators/value_parts.hpp"

#include "io/onnx_node/known_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// Operators that move elements along axes.
namespace cairn::inline v0::onnx {
namespace {

// Concat.

void make_concat(Node& node) {
    std::vector<ValuePtr> parts;
    for (std::size_t i = 0; i < node.input_count(); ++i) parts.push_back(node.value_ptr(i));
    node.set(0, joined(parts, node.graph(), node.axis(node.integer("axis", 1), node.rank(0))));
}

// Split.

Shape parts_of_split(const Node& node, const Dim& size) {
    if (const auto given = node.sizes_of("split", 1); given.has_value()) return *given;
    const auto outputs = static_cast<std::int64_t>(node.output_count());
    const std::int64_t count = node.integer("num_outputs", outputs);
    if (count < 1 || count > outputs) node.refuse(fmt::format("it has {} outputs for {} parts", outputs, count));
    const Dim part = ceildiv(size, count);
    Shape parts(static_cast<std::size_t>(count), part);
    // The last part is smaller where the parts are not equal.
    if (!(part * count == size)) {
        if (!node.has_attribute("num_outputs"))
            node.refuse(fmt::format("whether {} is a multiple of {} is not known", to_string(size), count));
        parts.back() = size - part * (count - 1);
        if (!provably_le(0, parts.back()))
            node.refuse(fmt::format("{} elements do not have {} parts", to_string(size), count));
    }
    return parts;
}

void make_split(Node& node) {
    const int axis = node.axis(node.integer("axis", 0), node.rank(0));
    const Shape lengths = parts_of_split(node, node.shape(0)[static_cast<std::size_t>(axis)]);
    const std::vector<ValuePtr> parts = parts_of(node.value(0), node.graph(), axis, lengths);
    for (std::size_t i = 0; i < parts.size(); ++i) node.set(i, parts[i]);
}

// Slice.

/// The axes that Slice cuts, and their ranges.
std::vector<std::pair<int, AxisRange>> ranges_of_slice(const Node& node) {
    const Shape shape = node.shape(0);
    const auto starts = node.sizes_of("starts", 1), ends = node.sizes_of("ends", 2);
    if (!starts.has_value() || !ends.has_value()) node.refuse("its bounds are missing");
    std::vector<std::int64_t> given = node.integers_of("axes", 3).value_or(std::vector<std::int64_t>());
    if (given.empty())
        for (std::size_t i = 0; i < starts->size(); ++i) given.push_back(static_cast<std::int64_t>(i));
    const std::vector<std::int64_t> steps =
        node.has(4) ? node.integers(4, "steps") : std::vector<std::int64_t>(given.size(), 1);
    const std::vector<int> axes = node.axes(given, node.rank(0));
    if (starts->size() != axes.size() || ends->size() != axes.size() || steps.size() != axes.size())
        node.refuse("its lists of bounds, axes and steps differ in length");
    std::vector<std::pair<int, AxisRange>> ranges;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Dim& size = shape[static_cast<std::size_t>(axes[i])];
        ranges.emplace_back(axes[i], axis_range(node, size, (*starts)[i], (*ends)[i], steps[i]));
    }
    return ranges;
}

void make_slice(Node& node) {
    Tensor x = node.tensor(0);
    for (const auto& [axis, range] : ranges_of_slice(node)) x = sliced(x, axis, range);
    node.set(0, x);
}

bool fold_slice(Node& node) {
    const Known& from = node.elements(0);
    const auto ranges = ranges_of_slice(node);
    std::vector<std::int64_t> dims = from.dims;
    for (const auto& [axis, range] : ranges) {
        if (!range.length.is_constant() || !range.start.is_constant()) return false;
        dims[static_cast<std::size_t>(axis)] = range.length.constant();
    }
    const auto source = [&](std::span<const std::int64_t> index, std::span<std::int64_t> position) {
        std::ranges::copy(index, position.begin());
        for (const auto& [axis, range] : ranges) {
            std::int64_t& at = position[static_cast<std::size_t>(axis)];
            at = range.start.constant() + range.step * at;
        }
    };
    node.set(0, remapped(from, std::move(dims), source));
    return true;
}

// Gather.

/// Known indices, counted from the front.
std::optional<std::vector<std::int64_t>> known_indices(const Node& node, std::int64_t size) {
    const Known* const known = node.known(1);
    if (known == nullptr || known->is_float() || !known->is_constant()) return std::nullopt;
    std::vector<std::int64_t> indices;
    for (const Dim& dim : known->integers) {
        const std::int64_t index = dim.constant() < 0 ? dim.constant() + size : dim.constant();
        if (index < 0 || index >= size) node.refuse(fmt::format("its index {} is outside 0..{}", index, size - 1));
        indices.push_back(index);
    }
    return indices;
}

bool fold_gather(Node& node) {
    const Known &from = node.elements(0), &positions = node.elements(1);
    const auto at = static_cast<std::size_t>(node.axis(node.integer("axis", 0), node.rank(0)));
    const auto indices = known_indices(node, from.dims[at]);
    if (!indices.has_value()) return false;
    std::vector<std::int64_t> dims(from.dims.begin(), from.dims.begin() + static_cast<std::ptrdiff_t>(at));
    dims.insert(dims.end(), positions.dims.begin(), positions.dims.end());
    dims.insert(dims.end(), from.dims.begin() + static_cast<std::ptrdiff_t>(at) + 1, from.dims.end());
    if (elements_of(dims) > most_known_elements) return false;
    const std::size_t rank = positions.dims.size();
    const auto source = [&](std::span<const std::int64_t> index, std::span<std::int64_t> position) {
        for (std::size_t axis = 0; axis < at; ++axis) position[axis] = index[axis];
        position[at] = (*indices)[element_at(positions.dims, index.subspan(at, rank))];
        for (std::size_t axis = at + 1; axis < position.size(); ++axis) position[axis] = index[axis + rank - 1];
    };
    node.set(0, remapped(from, std::move(dims), source));
    return true;
}

void make_gather(Node& node) {
    const Tensor x = node.tensor(0);
    const int axis = node.axis(node.integer("axis", 0), x.rank());
    const Dim size = x.dim(axis);
    const Known* const known = node.known(1);
    // A single known index is a slice, which needs no copy.
    if (known != nullptr && known->integers.size() == 1) {
        const Dim& index = known->integers[0];
        const Dim position = provably_le(0, index) ? index : size + index;
        const Tensor part = slice(x, axis, position, position + 1);
        Shape shape = x.shape();
        shape.erase(shape.begin() + axis);
        shape.insert(shape.begin() + axis, known->dims.begin(), known->dims.end());
        return node.set(0, reshape(part, shape));
    }
    const Tensor indices = node.tensor(1);
    const bool is_wrapped =
        known != nullptr && !known->is_float() &&
        std::ranges::all_of(known->integers, [](const Dim& index) { return provably_le(0, index); });
    node.set(0, gather(x, is_wrapped ? indices : where(indices < 0, indices + size, indices), axis));
}

// Tile.

void make_tile(Node& node) {
    const Shape times = node.sizes(1, "repeats");
    if (static_cast<int>(times.size()) != node.rank(0))
        node.refuse(fmt::format("it repeats {} axes of {}", times.size(), node.rank(0)));
    node.set(0, times.empty() ? node.tensor(0) : tile(node.tensor(0), times));
}

bool fold_tile(Node& node) {
    const Known& from = node.elements(0);
    const auto times = constant_dims(node.sizes(1, "repeats"));
    if (!times.has_value() || times->size() != from.dims.size() || elements_of(*times) > most_known_elements)
        return false;
    std::vector<std::int64_t> dims;
    for (std::size_t axis = 0; axis < times->size(); ++axis) dims.push_back(from.dims[axis] * (*times)[axis]);
    if (elements_of(dims) > most_known_elements) return false;
    const auto source = [&](std::span<const std::int64_t> index, std::span<std::int64_t> position) {
        for (std::size_t axis = 0; axis < index.size(); ++axis) position[axis] = index[axis] % from.dims[axis];
    };
    node.set(0, remapped(from, std::move(dims), source));
    return true;
}

// Range, EyeLike.

/// Number of elements of Range; empty: not known.
std::optional<Dim> length_of_range(const Known& start, const Known& limit, const Known& delta) {
    if (start.is_float()) {
        const double count = std::ceil((limit.floats[0] - start.floats[0]) / delta.floats[0]);
        if (!(count < 1e9)) return std::nullopt;
        return Dim(static_cast<std::int64_t>(std::max(count, 0.0)));
    }
    const Dim& step = delta.integers[0];
    if (!step.is_constant() || step.constant() == 0) return std::nullopt;
    const Dim distance = limit.integers[0] - start.integers[0];
    const Dim length = step.constant() > 0 ? ceildiv(distance, step) : ceildiv(-distance, -step);
    return provably_le(0, length) ? length : max(length, 0);
}

/// The three known numbers of Range.
std::array<const Known*, 3> bounds_of_range(const Node& node) {
    const std::array<const Known*, 3> bounds{&node.require_known(0, "start"), &node.require_known(1, "limit"),
                                             &node.require_known(2, "delta")};
    for (const Known* const bound : bounds)
        if (bound->count() != 1 || bound->type != bounds[0]->type)
            node.refuse("its bounds are no single numbers of one type");
    return bounds;
}

void make_range(Node& node) {
    const auto [start, limit, delta] = bounds_of_range(node);
    const auto length = length_of_range(*start, *limit, *delta);
    if (!length.has_value()) node.refuse("its length is not known");
    const DType dtype = node.dtype(0);
    if (start->is_float()) {
        const Tensor position = cast(iota(node.graph(), *length, DType::i64), dtype);
        return node.set(0, position * delta->floats[0] + start->floats[0]);
    }
    const Dim& step = delta->integers[0];
    if (step == Dim(1) && provably_le(0, start->integers[0]))
        return node.set(0, iota(node.graph(), *length, dtype, start->integers[0]));
    node.set(0, iota(node.graph(), *length, dtype) * step + start->integers[0]);
}

bool fold_range(Node& node) {
    const auto [start, limit, delta] = bounds_of_range(node);
    const auto length = length_of_range(*start, *limit, *delta);
    if (!length.has_value() || !length->is_constant() || length->constant() > most_known_elements) return false;
    Known result{start->type, {length->constant()}, {}, {}};
    for (std::int64_t i = 0; i < length->constant(); ++i)
        if (start->is_float())
            result.floats.push_back(
                rounded_to(start->type, start->floats[0] + static_cast<double>(i) * delta->floats[0]));
        else
            result.integers.push_back(start->integers[0] + delta->integers[0] * i);
    node.set(0, std::move(result));
    return true;
}

void make_eye_like(Node& node) {
    const Shape shape = node.shape(0);
    if (shape.size() != 2) node.refuse(fmt::format("its input has {} axes instead of 2", shape.size()));
    const DType dtype = require_dtype(node.element_type("dtype", node.type(0)));
    const Tensor row = unsqueeze(iota(node.graph(), shape[0], DType::i64), 1);
    const Tensor column = iota(node.graph(), shape[1], DType::i64);
    node.set(0, cast(row + node.integer("k", 0) == column, dtype));
}

constexpr std::array<Operator, 7> movement_rows{{{"Concat", 4, make_concat},
                                                 {"Split", 2, make_split},
                                                 {"Slice", 1, make_slice, fold_slice},
                                                 {"Gather", 1, make_gather, fold_gather},
                                                 {"Tile", 6, make_tile, fold_tile},
                                                 {"Range", 11, make_range, fold_range},
                                                 {"EyeLike", 9, make_eye_like}}};

}  // namespace

std::span<const Operator> movement_operators() { return movement_rows; }

}  // namespace cairn::inline v0::onnx
