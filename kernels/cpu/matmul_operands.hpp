#pragma once

#include "cairn/kernel.hpp"

#include <cstddef>

/// What the families that multiply matrices (`matmul`, `fused`, gates) share: the layout rules they ask
/// of operands, and the work.
namespace cairn::kernels::cpu {

/// True when the elements along an axis follow each other: stride 1, or never more than one element.
bool has_unit_stride(const TensorDesc& tensor, std::size_t axis);
/// True when the rows of [..., K] lie at one distance from each other whatever the leading axes are, so that it is one
/// matrix.
bool has_uniform_rows(const TensorDesc& tensor);
/// Whether x and the output have the same axes but for the last, and two or more (`linear` and its kin keep them).
bool same_leading_axes(const TensorDesc& x, const TensorDesc& output);

/// A bias of the columns of a weight, side by side.
Refusal refuse_bias(const TensorDesc& bias, const TensorDesc& weight);
/// An output that tells one column of each row of x.
Refusal refuse_argmax_output(const TensorDesc& out, const TensorDesc& x);
/// What finding the largest column of each row keeps: for each thread a number and its place in as many lanes as a
/// level has at most.
Dim argmax_workspace_bytes(const Problem& problem, int threads);

/// 2 M N K operations and each operand's bytes once; strides of 0 read nothing anew.
Cost product_cost(const Problem& problem, double efficiency);

/// product_cost for a kernel that rounds rows and columns up to whole tiles and repacks the right operand on each call,
/// or reads it in short runs: its bytes count three times.
Cost tiled_product_cost(const Problem& problem, double efficiency, double tile_rows, double tile_columns);

/// At run time: the number of rows of [..., K] and the distance between them.
struct UniformRows {
    std::int64_t count, stride;
};
UniformRows rows_of(const TensorArg& arg) noexcept;

}  // namespace cairn::kernels::cpu
