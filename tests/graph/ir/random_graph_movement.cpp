#include "tests/graph/ir/random_graph_builder.hpp"

#include <algorithm>
#include <numeric>

/// Steps that move elements: views, concatenations, gathers.
namespace cairn::test {

bool RandomGraphBuilder::reshape_value() {
    const BoundedValue x = any_float();
    Shape shape = x.tensor.shape();
    const auto rank = static_cast<int>(shape.size());
    switch (random_.below(5)) {
        case 0: return rank < 5 && keep_moved(unsqueeze(x.tensor, random_.below(rank + 1)), x);
        case 1: return keep_moved(reshape(x.tensor, {-1}), x);
        case 2: {
            std::erase(shape, Dim(1));
            return keep_moved(reshape(x.tensor, shape), x);
        }
        case 3: {
            if (rank < 2) return false;
            const auto at = static_cast<std::size_t>(random_.below(rank - 1));
            shape[at] = random_.one_in(2) ? Dim(-1) : shape[at] * shape[at + 1];
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
            if (shape[at] == Dim(-1) && !provably_le(1, element_count(shape) * Dim(-1))) return false;
            return keep_moved(reshape(x.tensor, shape), x);
        }
        default: {
            const auto even = std::find_if(shape.begin(), shape.end(), [](const Dim& size) {
                return size.is_constant() && size.constant() >= 2 && size.constant() % 2 == 0;
            });
            if (even == shape.end() || rank > 4) return false;
            const Dim half = even->constant() / 2;
            *even = 2;
            shape.insert(even + 1, half);
            return keep_moved(reshape(x.tensor, shape), x);
        }
    }
}

bool RandomGraphBuilder::permute() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() < 2) return false;
    std::vector<int> permutation(static_cast<std::size_t>(x.tensor.rank()));
    std::iota(permutation.begin(), permutation.end(), 0);
    for (std::size_t i = permutation.size(); i-- > 1;)
        std::swap(permutation[i], permutation[static_cast<std::size_t>(random_.below(static_cast<int>(i) + 1))]);
    return keep_moved(transpose(x.tensor, permutation), x);
}

bool RandomGraphBuilder::repeat() {
    const BoundedValue x = any_float();
    Shape shape = x.tensor.shape();
    for (Dim& size : shape)
        if (size == Dim(1)) size = any_size();
    if (shape.size() < 4 && random_.one_in(2)) shape.insert(shape.begin(), any_size());
    return keep_moved(broadcast(x.tensor, shape), x);
}

bool RandomGraphBuilder::cut() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() == 0) return false;
    const int axis = axis_of(x.tensor);
    const Dim size = x.tensor.dim(axis);
    const std::int64_t step = random_.one_in(3) ? 2 : 1;
    switch (random_.below(4)) {
        case 0: return provably_le(1, size) && keep_moved(slice(x.tensor, axis, 1, size, step), x);
        case 1: return provably_le(1, size) && keep_moved(slice(x.tensor, axis, 0, size - 1, step), x);
        case 2: return provably_le(1, size) && keep_moved(slice(x.tensor, axis, size - 1, size), x);
        default: return provably_le(2, size) && keep_moved(slice(x.tensor, axis, 0, 2, step), x);
    }
}

bool RandomGraphBuilder::windows() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() == 0 || x.tensor.rank() > 4) return false;
    const int axis = axis_of(x.tensor);
    const std::int64_t size = random_.between(1, 2), dilation = random_.between(1, 2);
    if (!provably_le((size - 1) * dilation + 1, x.tensor.dim(axis))) return false;
    const std::int64_t stride = random_.between(1, 2);
    return keep_moved(window(x.tensor, axis, size, stride, dilation), x);
}

bool RandomGraphBuilder::pad_axis() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() == 0) return false;
    const Dim after = random_.one_in(3) ? random_.pick(sizes_) : Dim(random_.between(0, 2));
    const int axis = axis_of(x.tensor);
    const std::int64_t before = random_.between(0, 2);
    const double value = random_.one_in(2) ? 0 : 1.5;
    const int finer = x.exact() ? std::max(x.quantum, 1) : -1;
    return keep(pad(x.tensor, axis, before, after, value), std::max(x.limit, value), x.error, finer);
}

bool RandomGraphBuilder::join() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() == 0) return false;
    const int axis = axis_of(x.tensor);
    if (random_.one_in(3)) return keep_moved(concat({x.tensor, x.tensor}, axis), x);
    Shape shape = x.tensor.shape();
    shape[static_cast<std::size_t>(axis)] = any_size();
    const BoundedValue y = leaf(shape);
    const Tensor concatenated =
        random_.one_in(2) ? concat({x.tensor, y.tensor}, axis) : concat({y.tensor, x.tensor, y.tensor}, axis);
    return keep(concatenated, std::max(x.limit, y.limit), x.error, x.exact() ? std::max(x.quantum, y.quantum) : -1);
}

bool RandomGraphBuilder::gather_rows() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() == 0) return false;
    const int axis = axis_of(x.tensor);
    const std::int64_t least = x.tensor.dim(axis).lower_bound();
    if (least < 1) return false;
    Tensor indices;
    switch (random_.below(4)) {
        case 0: indices = iota(graph_, least, random_.one_in(2) ? DType::i64 : DType::i32); break;
        case 1: return keep_moved(gather(x.tensor, static_cast<int>(random_.between(0, least - 1)), axis), x);
        default: indices = integer_input(any_shape(0, 2), least);
    }
    return keep_moved(gather(x.tensor, indices, axis), x);
}

bool RandomGraphBuilder::scatter_rows() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() == 0) return false;
    const int axis = axis_of(x.tensor);
    const std::int64_t least = x.tensor.dim(axis).lower_bound();
    if (least < 1) return false;
    const Dim count = any_size();
    Shape shape = x.tensor.shape();
    shape[static_cast<std::size_t>(axis)] = count;
    const BoundedValue updates = leaf(shape);
    const Tensor indices = integer_input({count}, least);
    return keep(scatter(x.tensor, indices, updates.tensor, axis), std::max(x.limit, updates.limit), x.error,
                x.exact() ? std::max(x.quantum, updates.quantum) : -1);
}

bool RandomGraphBuilder::make_iota() {
    const Dim length = any_size(), start = random_.one_in(2) ? Dim(0) : any_size();
    if (random_.one_in(2)) return keep_integer(iota(graph_, length, DType::i32, start), 64);
    return keep(iota(graph_, length, options_.dtype, start), static_cast<double>((length + start).upper_bound()) + 1, 0,
                0);
}

bool RandomGraphBuilder::copy() {
    const BoundedValue x = any_float();
    const bool away = options_.devices && random_.one_in(2);
    const Tensor copied = copy_to(x.tensor, away ? Device::cuda() : Device::cpu);
    if (!keep_moved(copied, x)) return false;
    if (!options_.devices || copied.rank() == 0 || random_.one_in(2)) return true;
    const int axis = axis_of(copied);
    return keep_moved(slice(copied, axis, 0, copied.dim(axis), 2), x);
}

}  // namespace cairn::test
