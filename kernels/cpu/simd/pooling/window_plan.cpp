#include "kernels/cpu/simd/pooling/window_plan.hpp"

#include "kernels/cpu/simd/plain_memory.hpp"

namespace cairn::kernels::cpu {
namespace {

std::int64_t number(const Problem& problem, std::string_view name, std::size_t at) {
    const std::vector<Dim>& list = problem.attributes.dims(name);
    return at < list.size() ? list[at].constant() : 0;
}

// The spatial axes of an image [B,C,..].
std::size_t axes_of(const Problem& problem) { return problem.inputs[0].shape.size() - 2; }

WindowAxis slide(const Problem& problem, std::size_t axis) {
    return {number(problem, "kernel", axis), number(problem, "padding", axis), number(problem, "stride", axis),
            number(problem, "dilation", axis)};
}

}  // namespace

Refusal accepts_window_axes(const Problem& problem) {
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    const std::size_t rank = x.shape.size();
    if (rank < 3 || rank > 5 || out.shape.size() < rank) return "needs an image and a result with one axis to three";
    if (!is_last_contiguous(x)) return "needs rows of the image";
    for (const char* const name : {"kernel", "stride", "dilation"})
        for (std::size_t axis = 0; axis < axes_of(problem); ++axis)
            if (number(problem, name, axis) < 1) return "needs windows of each axis";
    return {};
}

WindowPlan window_plan(const Problem& problem) {
    const std::size_t axes = axes_of(problem);
    const WindowAxis rows = axes > 1 ? slide(problem, axes - 2) : WindowAxis(), columns = slide(problem, axes - 1);
    WindowPlan plan{rows.with_smaller_sets(band_rows, 1), columns.with_smaller_sets(wide_tile_columns, 2),
                    problem.inputs[0].dtype, static_cast<float>(problem.attributes.number("value")),
                    static_cast<int>(axes)};
    if (axes == 3) plan.depths = slide(problem, 0);
    return with_smallest_band(plan);
}

}  // namespace cairn::kernels::cpu
