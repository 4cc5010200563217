#include "kernels/cuda/rows/library_product_plan.hpp"

#include "kernels/cuda/generate/offset_text.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/product_text.hpp"

#include <algorithm>

namespace cairn::kernels::cuda {
namespace {

using device::ProductEpilogue;
using device::ProductMatrix;

Refusal shape_refusal(const Problem& problem, DType dtype) {
    if (Refusal no = needs_plain_memory(problem); !no.empty()) return no;
    if (problem.inputs.size() < 2 || problem.outputs.size() != 1 || problem.attributes.has("columns"))
        return "needs two factors and one output with all columns";
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side)
            if (tensor.dtype != dtype) return "needs operands of " + std::string(to_string(dtype));
    const TensorDesc &a = problem.inputs[0], &b = problem.inputs[1], &out = problem.outputs[0];
    if (a.shape.size() < 2 || b.shape.size() < 2 || b.shape.size() > a.shape.size()) return "needs matrices";
    const std::size_t missing = a.shape.size() - b.shape.size();
    for (std::size_t axis = 0; axis + 2 < b.shape.size(); ++axis)
        if (!(b.shape[axis] == a.shape[axis + missing]))
            return "needs inputs with the output's batch axes (stride 0 repeats)";
    if (!(a.shape.back() == b.shape[b.shape.size() - 2])) return "needs operands of one depth";
    Shape shape = a.shape;
    shape.back() = b.shape.back();
    if (out.shape != shape) return "needs an output of the shape of the product";
    return provably_le(1, a.shape.back()) ? Refusal() : "needs a depth of at least 1";
}

/// True if all rows of a tensor are the same one, without gaps.
bool is_repeated_row(const TensorDesc& tensor) {
    for (std::size_t axis = 0; axis + 1 < tensor.shape.size(); ++axis)
        if (!(tensor.strides[axis] == Dim(0)) && !(tensor.shape[axis] == Dim(1))) return false;
    return tensor.strides.back() == Dim(1) || tensor.shape.back() == Dim(1);
}

/// Plans the body: a product and a row that is added, then perhaps relu or gelu_tanh.
Refusal plan_body(const Problem& problem, DType dtype, device::LibraryProduct& product) {
    constexpr const char* needs = "needs a body of a product, a bias and perhaps relu or gelu_tanh";
    const std::vector<Step>& body = problem.body;
    if (problem.inputs.size() != 3 || body.size() < 2 || body.size() > 3) return needs;
    constexpr int bias = 2, of_product = 3, of_sum = 4;
    for (const Step& step : body)
        if (step.dtype != dtype) return "needs steps of " + std::string(to_string(dtype));
    if (body[0].op != "matmul" || body[0].operands != std::vector{0, 1} || body[1].op != "add") return needs;
    std::vector<int> summands = body[1].operands;
    std::sort(summands.begin(), summands.end());
    if (summands != std::vector{bias, of_product} || problem.results != std::vector{2 + static_cast<int>(body.size())})
        return needs;
    if (body.size() == 3) {
        if (body[2].operands != std::vector{of_sum}) return needs;
        if (body[2].op == "relu")
            product.epilogue = ProductEpilogue::relu;
        else if (body[2].op == "gelu_tanh")
            product.epilogue = ProductEpilogue::gelu_tanh;
        else
            return needs;
    }
    if (problem.inputs[2].shape != problem.outputs[0].shape || !is_repeated_row(problem.inputs[2]))
        return "needs a bias that is one row without gaps";
    product.has_bias = true;
    return {};
}

bool is_one(const Dim& size) { return size == Dim(1); }

/// True if `count` neighbours of `length` elements without gaps do not overlap at this stride.
bool is_apart(const Dim& stride, const Dim& count, const Dim& length) {
    return is_one(count) || (provably_le(length, stride) && provably_le(1, stride));
}

/// Whether a matrix is in order of rows, or of columns (transposed); empty if it is in neither.
std::optional<bool> order_of(const Dim& rows, const Dim& row_stride, const Dim& columns, const Dim& column_stride) {
    if ((is_one(column_stride) || is_one(columns)) && is_apart(row_stride, rows, columns)) return false;
    if ((is_one(row_stride) || is_one(rows)) && is_apart(column_stride, columns, rows)) return true;
    return {};
}

Dim stride_of(const AxisList& rows) { return rows.axes().empty() ? Dim(1) : rows.axes().back().stride; }

/// Sizes and strides of neighbouring axes that are one.
struct JoinedAxis {
    std::int64_t count = 1, stride = 0;
};

JoinedAxis joined_axis(const TensorArg& tensor, std::size_t begin, std::size_t end) {
    JoinedAxis joined;
    for (std::size_t axis = begin; axis < end; ++axis) {
        joined.count *= tensor.shape[axis];
        if (tensor.shape[axis] != 1) joined.stride = tensor.strides[axis];
    }
    return joined;
}

/// `neighbours` of the matrix, of `length` elements each, lie at a stride.
std::int64_t safe_stride(const JoinedAxis& neighbours, std::int64_t length) {
    return neighbours.count == 1 ? std::max<std::int64_t>(length, 1) : neighbours.stride;
}

ProductMatrix matrix_of(const JoinedAxis& rows, const JoinedAxis& columns, bool is_transposed,
                        std::int64_t batch_stride) {
    const std::int64_t stride = is_transposed ? safe_stride(columns, rows.count) : safe_stride(rows, columns.count);
    return {rows.count, columns.count, stride, is_transposed, batch_stride};
}

}  // namespace

std::optional<LibraryProductPlan> plan_library_product(const Problem& problem, DType dtype, Refusal& refusal) {
    LibraryProductPlan plan;
    plan.product.dtype = dtype;
    if (refusal = shape_refusal(problem, dtype); !refusal.empty()) return {};
    if (problem.definition == "fused")
        refusal = plan_body(problem, dtype, plan.product);
    else if (problem.inputs.size() != 2)
        refusal = "needs two factors";
    if (!refusal.empty()) return {};
    const ProductView view = product_view(problem);
    const TensorDesc& out = problem.outputs[0];
    plan.batch_axes = view.batch_axes;
    plan.lead_axes = view.lead_axes;
    const AxisList out_rows(out, view.batch_axes, view.lead_axes);
    for (const AxisList& batches : {view.a_batches, view.b_batches, AxisList(out, 0, view.batch_axes)})
        if (batches.axes().size() > 1) refusal = "needs batches at one stride";
    if (view.a_rows.axes().size() > 1 || out_rows.axes().size() > 1) refusal = "needs rows at one stride";
    const auto a_order = order_of(view.rows, stride_of(view.a_rows), view.depth, view.a_depth_stride);
    const auto b_order = order_of(view.depth, view.b_depth_stride, view.columns, view.b_column_stride);
    if (!a_order || !b_order) refusal = "needs factors in order of rows or columns, without overlap";
    if (order_of(view.rows, stride_of(out_rows), view.columns, out.strides.back()) != false)
        refusal = "needs an output in order of rows";
    if (!refusal.empty()) return {};
    plan.product.a.is_transposed = *a_order;
    plan.product.b.is_transposed = *b_order;
    return plan;
}

device::LibraryProduct sized_product(const LibraryProductPlan& plan, const TensorArg& a, const TensorArg& b,
                                     const TensorArg& out) {
    device::LibraryProduct product = plan.product;
    const std::size_t last = plan.lead_axes, b_last = static_cast<std::size_t>(b.rank) - 1;
    const JoinedAxis batches = joined_axis(out, 0, plan.batch_axes);
    const std::size_t missing = last - b_last;
    const JoinedAxis b_batches = joined_axis(b, 0, plan.batch_axes > missing ? plan.batch_axes - missing : 0);
    product.batches = batches.count;
    product.a = matrix_of(joined_axis(a, plan.batch_axes, last), joined_axis(a, last, last + 1),
                          product.a.is_transposed, joined_axis(a, 0, plan.batch_axes).stride);
    product.b = matrix_of(joined_axis(b, b_last - 1, b_last), joined_axis(b, b_last, b_last + 1),
                          product.b.is_transposed, b_batches.stride);
    product.out =
        matrix_of(joined_axis(out, plan.batch_axes, last), joined_axis(out, last, last + 1), false, batches.stride);
    return product;
}

}  // namespace cairn::kernels::cuda
