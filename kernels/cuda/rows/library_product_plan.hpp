#pragma once

#include "cairn/kernel.hpp"
#include "device/libraries/product_library.hpp"

#include <cstddef>
#include <optional>

namespace cairn::kernels::cuda {

/// A matmul or fused problem as one product of a library: what of it holds at all sizes.
struct LibraryProductPlan {
    /// Axes of the result that are batches, and those before the columns. Those between are rows (ProductView).
    std::size_t batch_axes = 0, lead_axes = 0;
    device::LibraryProduct product;  ///< without sizes and strides
};

/// Plans a problem whose operands all have this dtype. Without a plan, `refusal` says why.
std::optional<LibraryProductPlan> plan_library_product(const Problem& problem, DType dtype, Refusal& refusal);

/// The product at the sizes of the operands.
device::LibraryProduct sized_product(const LibraryProductPlan& plan, const TensorArg& a, const TensorArg& b,
                                     const TensorArg& out);

}  // namespace cairn::kernels::cuda
