#include "kernels/cuda/generate/problem_facts.hpp"

#include <fmt/format.h>

namespace cairn::kernels::cuda {

Refusal needs_plain_memory(const Problem& problem, std::size_t rank) {
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (const TensorDesc& tensor : *side) {
            if (!tensor.layout.empty()) return "needs plain memory, not " + tensor.layout;
            if (tensor.shape.size() > rank) return fmt::format("needs at most {} axes", rank);
            if (tensor.strides.size() != tensor.shape.size()) return "needs one stride an axis";
        }
    }
    return {};
}

double bytes_of(const Problem& problem) {
    double bytes = 0;
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (const TensorDesc& tensor : *side) {
            double elements = 1;
            for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
                if (!(tensor.strides[axis] == Dim(0))) elements *= static_cast<double>(tensor.shape[axis].constant());
            bytes += elements * static_cast<double>(size_of(tensor.dtype));
        }
    }
    return bytes;
}

std::size_t axis_index(std::int64_t axis, std::size_t rank) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace cairn::kernels::cuda
