#include "cairn/composites.hpp"
#include "graph/composites/typed_name.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace cairn::inline v0 {
namespace {

using composites::typed_name;

// The index from the front of an axis of a tensor with `rank` axes.
std::size_t front(const CompositeScope& scope, const Operand& x, int axis, int rank) {
    if (axis < -rank || axis >= rank)
        scope.fail("axis " + std::to_string(axis) + " is out of range for " + typed_name("x", x));
    return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::vector<Tensor> slices(const CompositeScope& scope, const Operand& x, const Shape& sizes, std::size_t axis) {
    std::vector<Tensor> parts;
    Dim start = 0;
    for (const Dim& size : sizes) {
        if (!provably_le(0, size)) scope.fail("size " + to_string(size) + " may be negative");
        const Dim stop = start + size;
        parts.push_back(slice(x, static_cast<int>(axis), start, stop));
        start = stop;
    }
    return parts;
}

}  // namespace

Tensor squeeze(const Operand& x, const IntList& axes) {
    const CompositeScope scope("squeeze", x);
    const Shape& shape = x.tensor().shape();
    std::vector<bool> removed(shape.size(), false);
    for (const int axis : axes.values()) {
        const std::size_t at = front(scope, x, axis, x.tensor().rank());
        if (!(shape[at] == Dim(1)))
            scope.fail("axis " + std::to_string(axis) + " has the size " + to_string(shape[at]) +
                       ", not 1: " + typed_name("x", x));
        if (removed[at]) scope.fail("axis " + std::to_string(axis) + " is given twice: " + typed_name("x", x));
        removed[at] = true;
    }
    Shape rest;
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (axes.values().empty() ? !(shape[i] == Dim(1)) : !removed[i]) rest.push_back(shape[i]);
    return reshape(x, std::move(rest));
}

Tensor stack(std::span<const Tensor> tensors, int axis, std::source_location where) {
    if (tensors.empty()) throw Error(ErrorKind::graph, "stack", "takes 1 or more tensors, got 0", where);
    const Operand first(tensors.front(), where);
    const CompositeScope scope("stack", first);
    std::vector<Tensor> rows;
    for (const Tensor& tensor : tensors) {
        if (tensor.empty()) scope.fail("tensor " + std::to_string(rows.size()) + " is an empty or moved-from Tensor");
        if (tensor.shape() != first.tensor().shape())
            scope.fail("shapes differ: #0 " + to_string(first.tensor().dtype(), first.tensor().shape()) + ", #" +
                       std::to_string(rows.size()) + " " + to_string(tensor.dtype(), tensor.shape()));
        const std::size_t at = front(scope, first, axis, first.tensor().rank() + 1);
        rows.push_back(unsqueeze(Operand(tensor, where), static_cast<int>(at)));
    }
    return concat(std::span<const Tensor>(rows), static_cast<int>(front(scope, first, axis, rows[0].rank())), where);
}

Tensor stack(std::initializer_list<Tensor> tensors, int axis, std::source_location where) {
    return stack(std::span(tensors.begin(), tensors.size()), axis, where);
}

std::vector<Tensor> split(const Operand& x, const Shape& sizes, int axis) {
    const CompositeScope scope("split", x);
    const std::size_t at = front(scope, x, axis, x.tensor().rank());
    Dim total = 0;
    for (const Dim& size : sizes) total += size;
    if (!(total == x.tensor().shape()[at]))
        scope.fail("the sizes " + to_string(sizes) + " are " + to_string(total) + " together, axis " +
                   std::to_string(axis) + " has " + to_string(x.tensor().shape()[at]) + ": " + typed_name("x", x));
    return slices(scope, x, sizes, at);
}

std::vector<Tensor> chunk(const Operand& x, int parts, int axis) {
    const CompositeScope scope("chunk", x);
    const std::size_t at = front(scope, x, axis, x.tensor().rank());
    const Dim whole = x.tensor().shape()[at];
    if (parts < 1) scope.fail("parts must be at least 1, got " + std::to_string(parts));
    const Dim part = whole / parts;
    if (!(part * parts == whole))
        scope.fail("axis " + std::to_string(axis) + " is not sure to be a multiple of " + std::to_string(parts) + ": " +
                   typed_name("x", x));
    return slices(scope, x, Shape(static_cast<std::size_t>(parts), part), at);
}

Tensor repeat(const Operand& x, const Dim& times, int axis) {
    const CompositeScope scope("repeat", x);
    const std::size_t at = front(scope, x, axis, x.tensor().rank());
    if (!provably_le(0, times)) scope.fail(to_string(times) + " times may be negative");
    Shape shape = x.tensor().shape();
    Shape wide = shape;
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(at) + 1, times);
    shape[at] *= times;
    return reshape(broadcast(unsqueeze(x, static_cast<int>(at) + 1), std::move(wide)), std::move(shape));
}

Tensor tile(const Operand& x, const Shape& times) {
    const CompositeScope scope("tile", x);
    if (times.size() != x.tensor().shape().size())
        scope.fail("takes a number for each axis, got " + to_string(times) + ": " + typed_name("x", x));
    Shape single, wide, shape;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const Dim& size = x.tensor().shape()[i];
        if (!provably_le(0, times[i])) scope.fail(to_string(times[i]) + " times may be negative");
        single.insert(single.end(), {1, size});
        wide.insert(wide.end(), {times[i], size});
        shape.push_back(times[i] * size);
    }
    return reshape(broadcast(reshape(x, std::move(single)), std::move(wide)), std::move(shape));
}

Tensor one_hot(const Operand& indices, const Dim& depth, DType dtype, int axis) {
    const CompositeScope scope("one_hot", indices);
    const Tensor& at = indices.tensor();
    if (at.dtype() != DType::i32 && at.dtype() != DType::i64)
        scope.fail("indices must be i32 or i64: indices " + to_string(at.dtype(), at.shape()));
    const std::size_t position = front(scope, indices, axis, at.rank() + 1);
    if (at.dtype() == DType::i32 && !provably_le(depth, std::numeric_limits<std::int32_t>::max()))
        scope.fail("depth " + to_string(depth) +
                   " may be too large for indices of 32 bits: " + typed_name("indices", indices));
    const Tensor counted = where(indices < 0, indices + depth, indices);
    Shape line(at.shape().size() + 1, 1);
    line[position] = depth;
    const Tensor numbers = iota(Graph(at.graph()), depth, at.dtype());
    return cast(unsqueeze(counted, static_cast<int>(position)) == reshape(numbers, std::move(line)), dtype);
}

}  // namespace cairn::inline v0
