#pragma once

#include "cairn/kernel.hpp"

#include <string>

/// Operand checks shared by the `accepts` functions of the SIMD kernels.
namespace cairn::kernels::cpu {

/// Requires plain memory with at most `rank` axes.
inline Refusal needs_plain(const Problem& problem, int rank) {
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (const TensorDesc& tensor : *side) {
            if (!tensor.layout.empty()) return "needs plain memory, not " + tensor.layout;
            if (tensor.shape.size() > static_cast<std::size_t>(rank))
                return "more than " + std::to_string(rank) + " axes";
            if (tensor.strides.size() != tensor.shape.size()) return "needs one stride an axis";
        }
    }
    return {};
}

/// An axis, possibly negative, as an index 0 .. rank - 1.
inline int axis_index(std::int64_t axis, std::size_t rank) noexcept {
    return static_cast<int>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// Index of the first value of the list attribute `name` in Args::dims.
inline int position_of_list(const Attributes& attributes, std::string_view name) {
    int position = 0;
    for (const Attribute& attribute : attributes) {
        if (attribute.name == name) break;
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            position += static_cast<int>(list->size());
    }
    return position;
}

/// True if the last axis has stride 1 or at most one element.
inline bool is_last_contiguous(const TensorDesc& tensor) {
    if (tensor.shape.empty()) return true;
    return tensor.strides.back() == Dim(1) || tensor.shape.back() == Dim(1);
}

/// True if the axes from `first` on are contiguous.
inline bool is_dense_from(const TensorDesc& tensor, std::size_t first) {
    Dim stride = 1;
    for (std::size_t axis = tensor.shape.size(); axis-- > first;) {
        if (!(tensor.shape[axis] == Dim(1)) && !(tensor.strides[axis] == stride)) return false;
        stride = stride * tensor.shape[axis];
    }
    return true;
}

/// Bytes of the elements of all operands, at constant sizes; axes of stride 0 count once.
inline double bytes_of(const Problem& problem) {
    double bytes = 0;
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (const TensorDesc& tensor : *side) {
            double elements = 1;
            for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
                const bool repeated = axis < tensor.strides.size() && tensor.strides[axis] == Dim(0);
                if (!repeated) elements *= static_cast<double>(tensor.shape[axis].constant());
            }
            bytes += elements * static_cast<double>(size_of(tensor.dtype));
        }
    }
    return bytes;
}

}  // namespace cairn::kernels::cpu
