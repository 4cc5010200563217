#pragma once

#include "tests/emulated_cuda/device/runtime_calls.hpp"

namespace cairn::emulated_cuda {

/// d += a b of one warp by one of the operations for it, in the layout of kernels/cuda/text/mma.cuh. `parts[lane]` are
/// LaneFragments. Products are exact, and the sum of one operation is truncated to f32, as tensor cores do; that of
/// 8-bit operands is exact modulo 2^32. What becomes of subnormal sums is not documented: here they are 0.
void multiply_fragments(void* const* parts, WarpOperation operation);

/// Loads four 8x8 matrices of 16-bit values. `parts[lane]` are LaneRows.
void load_fragments(void* const* parts, bool transposed);

}  // namespace cairn::emulated_cuda
