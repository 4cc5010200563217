#include "kernels/cpu/matmul_operands.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::kernels::cpu {
namespace {

bool is_one(const Dim& dim) { return dim == Dim(1); }

// Distinct bytes in memory: an axis of stride 0 repeats the same ones.
double bytes_of(const TensorDesc& tensor) {
    double bytes = static_cast<double>(size_of(tensor.dtype));
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const bool repeats = tensor.layout.empty() && axis < tensor.strides.size() && tensor.strides[axis] == Dim(0);
        if (!repeats) bytes *= static_cast<double>(tensor.shape[axis].constant());
    }
    return bytes;
}

}  // namespace

bool has_unit_stride(const TensorDesc& tensor, std::size_t axis) {
    return is_one(tensor.shape[axis]) || tensor.strides[axis] == Dim(1);
}

bool has_uniform_rows(const TensorDesc& tensor) {
    const std::size_t rank = tensor.shape.size();
    if (rank == 0 || !has_unit_stride(tensor, rank - 1)) return false;
    Dim distance;
    bool is_first = true;
    for (std::size_t i = rank - 1; i-- > 0;) {
        if (is_one(tensor.shape[i])) continue;
        if (!is_first && !(tensor.strides[i] == distance)) return false;
        distance = tensor.strides[i] * tensor.shape[i];
        is_first = false;
    }
    return true;
}

bool same_leading_axes(const TensorDesc& x, const TensorDesc& output) {
    if (x.shape.size() < 2 || x.shape.size() != output.shape.size()) return false;
    for (std::size_t i = 0; i + 1 < x.shape.size(); ++i)
        if (!(x.shape[i] == output.shape[i])) return false;
    return true;
}

Refusal refuse_bias(const TensorDesc& bias, const TensorDesc& weight) {
    if (bias.dtype != DType::f32) return "needs f32";
    if (bias.shape.size() != 1 || !(bias.shape[0] == weight.shape.back()) || !has_unit_stride(bias, 0))
        return "needs a contiguous bias of the columns of the weight";
    return {};
}

Refusal refuse_argmax_output(const TensorDesc& out, const TensorDesc& x) {
    Shape shape = x.shape;
    if (!shape.empty()) shape.back() = 1;
    if (out.dtype != DType::i32 || !out.layout.empty() || out.shape != shape)
        return "needs an output of one i32 for each row";
    return {};
}

Dim argmax_workspace_bytes(const Problem& problem, int threads) {
    return element_count(problem.outputs[0].shape) * Dim(8 * 16 * threads);
}

Cost product_cost(const Problem& problem, double efficiency) {
    const double outputs = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    Cost cost{2 * outputs * static_cast<double>(problem.inputs[0].shape.back().constant()), 0, efficiency};
    for (const TensorDesc& tensor : problem.inputs) cost.bytes += bytes_of(tensor);
    for (const TensorDesc& tensor : problem.outputs) cost.bytes += bytes_of(tensor);
    return cost;
}

Cost tiled_product_cost(const Problem& problem, double efficiency, double tile_rows, double tile_columns) {
    Cost cost = product_cost(problem, efficiency);
    const Shape& shape = problem.outputs[0].shape;
    if (shape.size() < 2) return cost;
    const auto in_tiles = [](const Dim& size, double tile) {
        const double count = std::max(1.0, static_cast<double>(size.constant()));
        return std::ceil(count / tile) * tile / count;
    };
    cost.flops *= in_tiles(shape[shape.size() - 2], tile_rows) * in_tiles(shape.back(), tile_columns);
    cost.bytes += 2 * bytes_of(problem.inputs[1]);
    return cost;
}

UniformRows rows_of(const TensorArg& arg) noexcept {
    UniformRows rows{1, 0};
    bool is_first = true;
    for (int i = arg.rank - 2; i >= 0; --i) {
        rows.count *= arg.shape[i];
        if (arg.shape[i] == 1 || !is_first) continue;
        rows.stride = arg.strides[i];
        is_first = false;
    }
    return rows;
}

}  // namespace cairn::kernels::cpu
