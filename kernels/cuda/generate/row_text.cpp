#include "kernels/cuda/generate/row_text.hpp"

#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cairn::kernels::cuda {

std::string RowPlan::arguments() const { return fmt::format("{}, {}", threads, values); }

RowPlan row_plan(const Dim& size) {
    constexpr std::int64_t most_values = 8;
    const std::int64_t largest = size.upper_bound();
    RowPlan plan;
    plan.threads = largest <= 128 ? 32 : largest <= 512 ? 128 : largest <= 4096 ? 256 : 1024;
    const std::int64_t values = (largest + plan.threads - 1) / plan.threads;
    plan.values = values <= most_values ? static_cast<int>(values) : 0;
    return plan;
}

std::vector<std::size_t> row_axes(const Problem& problem) {
    const std::size_t rank = problem.inputs[0].shape.size();
    std::vector<std::size_t> axes;
    for (const char* name : {"axes", "axis"})
        if (problem.attributes.has(name))
            for (const Dim& axis : problem.attributes.dims(name)) axes.push_back(axis_index(axis.constant(), rank));
    if (axes.empty()) axes.push_back(rank - 1);
    std::sort(axes.begin(), axes.end());
    return axes;
}

RowView row_view(const TensorDesc& tensor, const std::vector<std::size_t>& axes) {
    RowView view;
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const bool is_along = std::find(axes.begin(), axes.end(), axis) != axes.end();
        (is_along ? view.along : view.rows).add(tensor.shape[axis], tensor.strides[axis]);
    }
    return view;
}

std::string row_begin(const Problem& problem, const std::string& entry, const RowPlan& plan, const Dim& rows) {
    return kernel_begin(problem, entry, plan.threads) +
           fmt::format("    const i64 row = blockIdx.x;\n    if (row >= {}) return;\n", size_text(rows));
}

std::string row_pointer(const std::string& name, const std::string& parameter, const AxisList& rows,
                        const std::string& type) {
    return fmt::format("    {0}* const {1} = ({0}*){2} + {3};\n", type, name, parameter, rows.offset("row"));
}

Refusal row_refusal(const Problem& problem, const std::vector<std::size_t>& axes) {
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
    const RowView view = row_view(problem.inputs[0], axes);
    if (view.rows.count().upper_bound() > limit) return "needs at most 2^31 - 1 rows";
    return view.along.count().upper_bound() > limit ? "needs rows of at most 2^31 - 1 elements" : Refusal();
}

}  // namespace cairn::kernels::cuda
