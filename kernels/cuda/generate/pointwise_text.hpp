#pragma once

#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/offset_text.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::kernels::cuda {

/// An operand that a thread addresses by the linear index of an element of the result.
struct PointwiseOperand {
    std::string pointer;  ///< its parameter
    DType dtype;
    AxisList axes;           ///< with as many elements as the result
    Dim begin = 0;           ///< offset of the first element
    std::int64_t parts = 1;  ///< of an input of f32 in partial sums; each has as many elements as the result
};

/// A kernel in which each element of the outputs depends on one element of each input.
struct Pointwise {
    std::vector<PointwiseOperand> inputs, outputs;
    Body body;
    Dim count;
    bool moves_bits = false;  ///< the body is empty, and elements of any dtype are moved as they are
};

/// Threads of a block of a pointwise kernel, and elements a thread.
constexpr int pointwise_threads = 256, pointwise_elements = 4;

/// The code of a pointwise kernel. Where operands go on for four elements, 16 bytes are loaded and stored at once if
/// the addresses of a run are aligned.
KernelCode pointwise_code(const Problem& problem, std::string_view family, const Pointwise& kernel);

}  // namespace cairn::kernels::cuda
