#pragma once

#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/offset_text.hpp"

#include <cstdint>
#include <string>

namespace cairn::kernels::cuda {

/// A matmul or fused problem as a kernel sees it. Leading axes along which b is repeated are rows, since the product is
/// the same; those before them are batches.
struct ProductView {
    std::size_t batch_axes = 0;  ///< leading axes of the result that are batches
    std::size_t lead_axes = 0;   ///< axes of the result before the columns
    Dim batches, rows, columns, depth;
    AxisList a_batches, b_batches, a_rows;
    Dim a_depth_stride, b_depth_stride, b_column_stride;
    bool a_is_wide = false, b_is_wide = false;  ///< 16 bytes can be loaded at once from an aligned operand
    DType b_dtype = DType::f32;                 ///< f32, f16 or bf16
    bool b_is_along_depth = false;              ///< neighbours of b are along the depth rather than the columns
};
ProductView product_view(const Problem& problem);

/// Why a matmul or fused problem is not one of f32, with b in f32, f16 or bf16, and a body that can be printed; empty
/// if it is.
Refusal product_refusal(const Problem& problem);

/// True if the result is the product plus terms that do not depend on it, so that it may be written in partial sums: a
/// product alone, or with a body of additions in which it occurs once; one output of f32.
bool is_sum_with_product(const Problem& problem);

/// Declarations of `p`, the operands in the batch of the name `batch`, and of the functions `a_row` and `out`. For a
/// result in partial sums, `part` is the part that `out` writes; the terms of the body are in part 0.
std::string product_operands_text(const Problem& problem, const ProductView& view);

/// Operations of a product and its body at constant sizes.
Cost product_cost(const Problem& problem, double efficiency);

}  // namespace cairn::kernels::cuda
