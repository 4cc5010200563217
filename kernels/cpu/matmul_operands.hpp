#pragma once

#include "cairn/kernel.hpp"

#include <cstddef>

/// Layout checks and cost estimates shared by the kernel families that multiply matrices (`matmul`, `fused`, gated
/// products).
namespace cairn::kernels::cpu {

/// True if the elements along an axis are contiguous: stride 1, or at most one element.
bool has_unit_stride(const TensorDesc& tensor, std::size_t axis);
/// True if all rows of [..., K] have one row stride whatever the leading axes, so that the tensor is one matrix.
bool has_uniform_rows(const TensorDesc& tensor);
/// True if x and the output have two or more axes and equal sizes on all but the last, as `linear` and similar ops
/// require.
bool same_leading_axes(const TensorDesc& x, const TensorDesc& output);

/// Requires a contiguous f32 bias with one element per column of the weight.
Refusal refuse_bias(const TensorDesc& bias, const TensorDesc& weight);
/// Requires an i32 output with one column index for each row of x.
Refusal refuse_argmax_output(const TensorDesc& out, const TensorDesc& x);
/// Workspace of an argmax over each row: for each row and thread, a value and its index in each of 16 lanes, the most
/// that any level has.
Dim argmax_workspace_bytes(const Problem& problem, int threads);

/// 2 M N K operations, and the bytes of each operand once; axes of stride 0 add no bytes.
Cost product_cost(const Problem& problem, double efficiency);

/// product_cost for a kernel that rounds rows and columns up to whole tiles. The bytes of the right operand count three
/// times: the kernel repacks it on each call, or reads it in short runs.
Cost tiled_product_cost(const Problem& problem, double efficiency, double tile_rows, double tile_columns);

/// The row count of [..., K] and the row stride, computed at run time.
struct UniformRows {
    std::int64_t count, stride;
};
UniformRows rows_of(const TensorArg& arg) noexcept;

}  // namespace cairn::kernels::cpu
