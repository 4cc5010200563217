#include "kernels/cpu/simd/image_plan.hpp"

#include "kernels/cpu/simd/plain_memory.hpp"

namespace cairn::inline v0::kernels::cpu {
namespace {

std::int64_t number(const Problem& problem, std::string_view name, std::size_t at) {
    const std::vector<Dim>& list = problem.attributes.dims(name);
    return at < list.size() ? list[at].constant() : 0;
}

Slide slide(const Problem& problem, std::size_t axis) {
    return {number(problem, "kernel", axis), number(problem, "padding", axis), number(problem, "stride", axis),
            number(problem, "dilation", axis)};
}

}  // namespace

Refusal accepts_image(const Problem& problem) {
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    if (x.dtype != out.dtype || (x.dtype != DType::f32 && !is_widening(x.dtype, DType::f32)))
        return "needs f32, f16 or bf16";
    if (x.shape.size() != 4 || out.shape.size() < 4) return "needs an image and a result with four axes";
    if (!is_last_contiguous(x)) return "needs rows of the image";
    for (const char* const name : {"kernel", "stride", "dilation"})
        for (const std::size_t axis : {0, 1})
            if (number(problem, name, axis) < 1) return "needs windows of two axes";
    return {};
}

ImagePlan image_plan(const Problem& problem) {
    return {slide(problem, 0), slide(problem, 1), problem.inputs[0].dtype,
            static_cast<float>(problem.attributes.number("value"))};
}

}  // namespace cairn::inline v0::kernels::cpu
