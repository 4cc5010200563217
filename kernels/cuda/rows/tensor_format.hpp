#pragma once

#include "cairn/types.hpp"
#include "cairn/units.hpp"

#include <cstdint>
#include <string_view>

/// Formats in which kernels give elements of f32, f16 and bf16 to tensor cores (kernels/cuda/text/tensor_formats.cuh).
namespace cairn::kernels::cuda {

enum class TensorFormat {
    bf16x6,  ///< three bf16 parts, six products: exact
    f16x3,   ///< two f16 parts, three products: 22 bits
    f16,     ///< rounded to f16
};

/// Its name in ids of kernels: `bf16x6`.
std::string_view name_of(TensorFormat format);
/// The type in the text; `slice`: of the depth, 32 or 64. Formats with parts have slices of 32.
std::string_view type_of(TensorFormat format, std::int64_t slice);
/// The arithmetic whose rate limits its products.
Arithmetic arithmetic_of(TensorFormat format);
/// Number of parts of an element.
std::int64_t parts_of(TensorFormat format, DType dtype);
/// Number of products of parts that are added for a product of two elements.
std::int64_t products_of(TensorFormat format, DType a, DType b);
/// Bytes of the shared memory of the parts (OperandParts) of `lines` lines of `width` elements.
std::int64_t line_bytes(TensorFormat format, DType dtype, std::int64_t lines, std::int64_t width);

}  // namespace cairn::kernels::cuda
