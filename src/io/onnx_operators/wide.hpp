#pragma once

#include "cairn/ops.hpp"

/// Operators of several ops are computed in f32 for f16 and bf16, and rounded once.
namespace cairn::inline v0::onnx {

/// f32 for f16 and bf16; the others unchanged.
inline DType wide_dtype(DType dtype) noexcept {
    return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

inline Tensor as_dtype(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

/// f64 for itself, f32 for all others.
inline DType float_dtype(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// x in its float dtype.
inline Tensor float_of(const Tensor& x) { return as_dtype(x, float_dtype(x.dtype())); }

/// x in its wide dtype.
inline Tensor wide_of(const Tensor& x) { return as_dtype(x, wide_dtype(x.dtype())); }

}  // namespace cairn::inline v0::onnx
