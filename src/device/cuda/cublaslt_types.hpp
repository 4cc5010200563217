#pragma once

#include <cstddef>
#include <cstdint>

/// Declarations of cuBLASLt, as far as Cairn uses it. Values and layouts are those of cublasLt.h; a test compares them
/// where that header is present.
namespace cairn::device::cuda {

/// Handles of objects of the library: pointers to structures that only the library knows.
using CublasltHandle = struct CublasltHandleObject*;
using ProductDescription = struct ProductDescriptionObject*;
using MatrixLayout = struct MatrixLayoutObject*;
using ProductPreference = struct ProductPreferenceObject*;

/// Result of a call. Other values than these are possible.
enum class CublasltStatus : unsigned {
    success = 0,
    not_initialized = 1,
    alloc_failed = 3,
    invalid_value = 7,
    arch_mismatch = 8,
    execution_failed = 13,
    internal_error = 14,
    not_supported = 15,
};

/// Type of elements.
enum class CublasltType : unsigned { f32 = 0, f16 = 2, bf16 = 14 };
/// How products are computed and summed.
enum class CublasltCompute : unsigned { f32 = 68, f32_pedantic = 69, f32_fast_tf32 = 77 };

enum class ProductAttribute : unsigned { transpose_a = 3, transpose_b = 4, epilogue = 7, bias_pointer = 8 };
/// Value of ProductAttribute::transpose_a and transpose_b.
enum class CublasltTranspose : unsigned { none = 0, transposed = 1 };
/// Value of ProductAttribute::epilogue.
enum class CublasltEpilogue : unsigned { none = 1, bias = 4, relu_bias = 6, gelu_bias = 36 };

enum class MatrixAttribute : unsigned { batch_count = 5, batch_stride = 6 };

enum class PreferenceAttribute : unsigned {
    max_workspace_bytes = 1,
    reduction_schemes = 3,
    alignment_a = 5,
    alignment_b = 6,
    alignment_c = 7,
    alignment_d = 8,
};
/// Value of PreferenceAttribute::reduction_schemes: parts of the depth are summed in the type of the sums, in a step of
/// their own, so that their order is always the same. Products that are not divided are permitted, too.
inline constexpr std::uint32_t reduction_in_compute_type = 2;

/// How a product is to be computed.
struct ProductAlgorithm {
    std::uint64_t data[8];
};

/// An algorithm that the library proposes.
struct ProductProposal {
    ProductAlgorithm algorithm;
    std::size_t workspace_bytes;
    CublasltStatus status;  ///< the rest is valid if successful
    float waves;
    int reserved[4];
};

}  // namespace cairn::device::cuda
