#pragma once

#include "tests/emulated_cuda/device/runtime_calls.hpp"

namespace cairn::emulated_cuda {

/// d += a b of one warp, in the layout of kernels/cuda/text/mma.cuh. `parts[lane]` are LaneFragments. Products are
/// exact, and each sum of 16 and d is truncated to f32, as tensor cores do.
void multiply_fragments(void* const* parts, bool is_bf16);

/// Loads four 8x8 matrices of 16-bit values. `parts[lane]` are LaneRows.
void load_fragments(void* const* parts, bool transposed);

}  // namespace cairn::emulated_cuda
