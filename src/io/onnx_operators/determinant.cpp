#include "io/onnx_operators/products.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// Matrices [B, n, n] after a step of Gaussian elimination: the pivot [B, 1], with the sign that a swap of rows gives,
/// and the rest [B, n - 1, n - 1].
struct EliminationStep {
    Tensor pivot, rest;
};

EliminationStep eliminate(const Tensor& x) {
    const Dim batch = x.dim(0);
    const std::int64_t size = x.dim(1).constant();
    const Tensor column = reshape(slice(x, 2, 0, 1), {batch, size});
    const Tensor row = argmax(abs(column), 1, true);
    const Tensor largest = take_along_axis(column, row, 1);
    const Tensor pivot = where(row == 0, largest, -largest);
    // The pivot's row moves out, and the first one takes its place.
    const Tensor pivot_row = take_along_axis(x, broadcast(unsqueeze(row, 2), {batch, 1, size}), 1);
    const Tensor place = iota(Graph(x.graph()), size - 1, DType::i32, 1);
    const Tensor is_place = unsqueeze(place == row, 2);
    const Tensor below = where(is_place, slice(x, 1, 0, 1), slice(x, 1, 1, size));
    // A column of zeros gives a pivot of zero: nothing needs to be subtracted.
    const Tensor divisor = where(largest == 0, Graph(x.graph()).constant(x.dtype(), 1), largest);
    const Tensor factors = slice(below, 2, 0, 1) / unsqueeze(divisor, 2);
    return {pivot, slice(below, 2, 1, size) - factors * slice(pivot_row, 2, 1, size)};
}

}  // namespace

void make_det(Node& node) {
    const Tensor x = node.tensor(0);
    if (x.rank() < 2) node.refuse("its input is no matrix");
    const Dim size = x.dim(-1);
    if (!(x.dim(-2) == size)) node.refuse(fmt::format("its matrices are not square: {}", to_string(x.shape())));
    if (!size.is_constant())
        node.refuse(fmt::format("the steps of elimination depend on the size {}", to_string(size)));
    if (size.constant() > node.importer().unroll_limit())
        node.refuse(fmt::format("its matrices have {} rows, more than the limit of unrolled steps", size.constant()));
    const Shape shape(x.shape().begin(), x.shape().end() - 2);
    const DType wide = float_dtype(x.dtype());
    const Dim batch = element_count(shape);
    Tensor rest = reshape(cast(x, wide), {batch, size, size});
    Tensor product = broadcast(node.graph().constant(wide, 1), {batch, 1});
    for (std::int64_t left = size.constant(); left > 1; --left) {
        const EliminationStep step = eliminate(rest);
        product = product * step.pivot;
        rest = step.rest;
    }
    if (size.constant() > 0) product = product * reshape(rest, {batch, 1});
    node.set(0, cast(reshape(product, shape), x.dtype()));
}

}  // namespace cairn::inline v0::onnx
