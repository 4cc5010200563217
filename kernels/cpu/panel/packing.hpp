#pragma once

#include "kernels/cpu/panel/layout.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// What kernels of `pack` to panels share: the matrix that they read, and what they refuse.
namespace cairn::kernels::cpu {

/// The matrix W [K, N] that panels hold, in plain memory of any strides.
template <typename Element>
struct PackSource {
    const Element* data;
    std::int64_t depth, columns, depth_stride, column_stride;
};

/// `is_transposed`: the input is the transposed matrix, so that its rows become the columns of panels.
template <typename Element>
PackSource<Element> pack_source(const TensorArg& in, bool is_transposed) noexcept {
    const int k = is_transposed ? 1 : 0, n = is_transposed ? 0 : 1;
    return {reinterpret_cast<const Element*>(in.data), in.shape[k], in.shape[n], in.strides[k], in.strides[n]};
}

/// Checks all but the dtype of a problem of packing to a layout or, of the transposed matrix, to `transposed`.
inline Refusal refuse_packing(const Problem& problem, std::string_view layout, std::string_view transposed) {
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    const TensorDesc &in = problem.inputs[0], &out = problem.outputs[0];
    if (out.layout != layout && out.layout != transposed)
        return "makes the layouts " + std::string(layout) + " and " + std::string(transposed);
    if (!in.layout.empty()) return "needs plain memory, not the layout " + in.layout;
    if (in.dtype != out.dtype) return "keeps the dtype";
    if (in.shape.size() != 2 || in.shape != out.shape) return "needs a matrix";
    return {};
}

}  // namespace cairn::kernels::cpu
