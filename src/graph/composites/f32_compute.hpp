#pragma once

#include "cairn/ops.hpp"
#include "graph/composites/typed_name.hpp"

#include <string_view>

/// Intermediate results of f16 and bf16 in f32. A composite of f16 or bf16 casts its operands to f32, computes in f32
/// and casts the result back: it is rounded once, and no intermediate result overflows or loses digits that the result
/// has. Other dtypes are computed without a cast.
///
///     mean(x), x f16[4,100]   ->   cast(sum(cast(x, f32), {-1}) / 100, f16)
namespace cairn::composites {

/// True for f16 and bf16.
inline bool is_16_bit_float(DType dtype) { return is_widening(dtype, DType::f32); }

/// x, cast to f32 if it is f16 or bf16.
inline Tensor widened(const Operand& x) {
    return is_16_bit_float(x.tensor().dtype()) ? cast(x, DType::f32) : x.tensor();
}

/// The operand `other` of a composite of x, cast to f32 if x is; numbers are returned as they are. If x is cast, a
/// dtype that differs from that of x is an error: the cast would hide the difference.
inline Operand widened_with(const CompositeScope& scope, const Operand& x, std::string_view name,
                            const Operand& other) {
    if (other.is_scalar() || other.tensor().empty() || !is_16_bit_float(x.tensor().dtype())) return other;
    if (other.tensor().dtype() != x.tensor().dtype())
        scope.fail("dtypes differ, cast one of them: " + typed_name("x", x) + ", " + typed_name(name, other));
    return {widened(other), other.where()};
}

/// The result of a composite, cast to the dtype of x.
inline Tensor narrowed(const Tensor& result, const Operand& x) {
    const DType dtype = x.tensor().dtype();
    return result.dtype() == dtype ? result : cast(result, dtype);
}

}  // namespace cairn::composites
