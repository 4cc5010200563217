#include "io/onnx_operators/value_parts.hpp"

#include "io/onnx_node/known_index.hpp"
#include "io/onnx_node/refusal.hpp"

#include "cairn/composites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cairn::inline v0::onnx {
namespace {

using Sizes = std::vector<std::int64_t>;

const Known* known_tensor(const Value& value) { return value.kind() == Value::Kind::tensor ? value.known() : nullptr; }

Known known_part(const Known& from, std::size_t axis, std::int64_t start, std::int64_t stop) {
    Sizes dims = from.dims;
    dims[axis] = stop - start;
    return remapped(from, std::move(dims), [&](std::span<const std::int64_t> index, std::span<std::int64_t> position) {
        std::ranges::copy(index, position.begin());
        position[axis] += start;
    });
}

/// The same elements with other sizes.
Known with_dims(Known known, Sizes dims) {
    known.dims = std::move(dims);
    return known;
}

/// Joins known tensors; empty if they do not fit together, or have too many elements.
std::optional<Known> known_joined(const std::vector<ValuePtr>& values, std::size_t axis) {
    Sizes dims;
    for (const ValuePtr& value : values) {
        const Known* const known = known_tensor(*value);
        if (known == nullptr || known->type != values.front()->type() || axis >= known->dims.size()) return {};
        Sizes own = known->dims;
        if (!dims.empty()) own[axis] += dims[axis];
        if (!dims.empty() && own.size() != dims.size()) return {};
        for (std::size_t i = 0; i < dims.size(); ++i)
            if (i != axis && own[i] != dims[i]) return {};
        dims = std::move(own);
    }
    if (elements_of(dims) > most_known_elements) return {};
    Known result{values.front()->type(), dims, {}, {}};
    const std::span<const std::int64_t> all = dims;
    const std::int64_t rows = elements_of(all.first(axis)), inner = elements_of(all.subspan(axis + 1));
    for (std::int64_t row = 0; row < rows; ++row)
        for (const ValuePtr& value : values) {
            const Known& known = *value->known();
            const std::int64_t count = known.dims[axis] * inner;
            for (std::int64_t i = row * count; i < (row + 1) * count; ++i)
                if (known.is_float())
                    result.floats.push_back(known.floats[static_cast<std::size_t>(i)]);
                else
                    result.integers.push_back(known.integers[static_cast<std::size_t>(i)]);
        }
    return result;
}

/// The value with one more axis, of size 1.
ValuePtr with_axis(const ValuePtr& value, const Graph& graph, int axis) {
    if (const Known* const known = known_tensor(*value); known != nullptr && !value->has_tensor()) {
        Sizes dims = known->dims;
        dims.insert(dims.begin() + axis, 1);
        return Value::of(with_dims(*known, std::move(dims)));
    }
    return Value::of(unsqueeze(value->tensor(graph), axis), value->type());
}

}  // namespace

ValuePtr part_of(const Value& value, const Graph& graph, int axis, const Dim& start, const Dim& stop) {
    const Known* const known = known_tensor(value);
    const auto at = static_cast<std::size_t>(axis);
    if (known != nullptr && start.is_constant() && stop.is_constant() && start.constant() >= 0 &&
        stop.constant() <= known->dims.at(at) && start.constant() <= stop.constant())
        return Value::of(known_part(*known, at, start.constant(), stop.constant()));
    return Value::of(slice(value.tensor(graph), axis, start, stop), value.type());
}

std::vector<ValuePtr> parts_of(const Value& value, const Graph& graph, int axis, const Shape& lengths) {
    const Dim size = value.shape().at(static_cast<std::size_t>(axis));
    const Dim total = std::accumulate(lengths.begin(), lengths.end(), Dim(0));
    if (!(total == size))
        throw Refusal(
            fmt::format("its parts have the size {} together instead of {}", to_string(total), to_string(size)));
    std::vector<ValuePtr> parts;
    Dim start = 0;
    for (const Dim& length : lengths) {
        parts.push_back(part_of(value, graph, axis, start, start + length));
        start += length;
    }
    return parts;
}

ValuePtr without_axis(const ValuePtr& value, const Graph& graph, int axis) {
    if (const Known* const known = known_tensor(*value)) {
        Sizes dims = known->dims;
        dims.erase(dims.begin() + axis);
        return Value::of(with_dims(*known, std::move(dims)));
    }
    return Value::of(squeeze(value->tensor(graph), axis), value->type());
}

ValuePtr item_of(const Value& value, const Graph& graph, int axis, std::int64_t index) {
    return without_axis(part_of(value, graph, axis, index, index + 1), graph, axis);
}

ValuePtr joined(const std::vector<ValuePtr>& values, const Graph& graph, int axis) {
    if (auto known = known_joined(values, static_cast<std::size_t>(axis))) return Value::of(std::move(*known));
    if (values.size() == 1) return values.front();
    std::vector<Tensor> tensors;
    for (const ValuePtr& value : values) tensors.push_back(value->tensor(graph));
    return Value::of(concat(tensors, axis), values.front()->type());
}

ValuePtr stacked(const std::vector<ValuePtr>& values, const Graph& graph, int axis) {
    std::vector<ValuePtr> parts;
    for (const ValuePtr& value : values) parts.push_back(with_axis(value, graph, axis));
    return joined(parts, graph, axis);
}

}  // namespace cairn::inline v0::onnx
