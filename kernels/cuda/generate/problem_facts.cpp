#include "kernels/cuda/generate/problem_facts.hpp"

#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/partial_sums.hpp"

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

Refusal needs_plain_memory_or_partial_sums(const Problem& problem) {
    Problem plain = problem;
    for (TensorDesc& input : plain.inputs) {
        if (!is_in_partial_sums(input)) continue;
        if (input.dtype != DType::f32) return "needs partial sums of f32";
        input.layout.clear();
    }
    return needs_plain_memory(plain);
}

std::vector<LayoutInput> partial_sums_inputs(int count, int first) {
    std::vector<LayoutInput> inputs;
    for (int input = first; input < first + count; ++input) inputs.push_back({input, std::string(partial_sums_layout)});
    return inputs;
}

std::string layout_of_parts(std::int64_t parts) {
    return parts > 1 ? fmt::format("{}.{}", partial_sums_layout, parts) : std::string();
}

std::string element_text(const TensorDesc& input, const std::string& name, const std::string& offset) {
    if (!is_in_partial_sums(input)) return fmt::format("{}[{}]", name, offset);
    return fmt::format("sum_of_parts<{}>(&{}[{}], {})", part_count(input), name, offset,
                       size_text(element_count(input.shape)));
}

double bytes_of(const Problem& problem) {
    double bytes = 0;
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (const TensorDesc& tensor : *side) {
            double elements = 1;
            for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
                if (!(tensor.strides[axis] == Dim(0))) elements *= static_cast<double>(tensor.shape[axis].constant());
            bytes += elements * static_cast<double>(part_count(tensor)) * static_cast<double>(size_of(tensor.dtype));
        }
    }
    return bytes;
}

std::size_t axis_index(std::int64_t axis, std::size_t rank) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace cairn::kernels::cuda
