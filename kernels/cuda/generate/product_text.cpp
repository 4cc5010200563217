#include "kernels/cuda/generate/product_text.hpp"

#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::kernels::cuda {
namespace {

/// The body of a product: input 0 is the product, as in parts_of_fused.
struct Epilogue {
    Body body;
    std::vector<TensorDesc> inputs;  ///< after the product
};

Epilogue epilogue_of(const Problem& problem) {
    Epilogue epilogue;
    epilogue.body.inputs = {DType::f32};
    epilogue.body.results = {0};
    if (problem.definition != "fused") return epilogue;
    const auto parts = parts_of_fused(problem);
    for (std::size_t i = 1; i < parts->epilogue.inputs.size(); ++i) {
        epilogue.inputs.push_back(parts->epilogue.inputs[i]);
        epilogue.body.inputs.push_back(parts->epilogue.inputs[i].dtype);
    }
    epilogue.body.steps = parts->epilogue.body;
    epilogue.body.results = parts->epilogue.results;
    return epilogue;
}

Shape product_shape(const Problem& problem) {
    Shape shape = problem.inputs[0].shape;
    shape.back() = problem.inputs[1].shape.back();
    return shape;
}

/// Stride of b along a leading axis of the result; b may lack leading axes.
Dim b_stride(const Problem& problem, std::size_t axis) {
    const TensorDesc& b = problem.inputs[1];
    const std::size_t missing = problem.inputs[0].shape.size() - b.shape.size();
    return axis < missing ? Dim(0) : b.strides[axis - missing];
}

bool are_multiples(const AxisList& list, std::int64_t factor) {
    return std::all_of(list.axes().begin(), list.axes().end(),
                       [&](const Axis& axis) { return is_multiple(axis.stride, factor); });
}

// An element of a tensor of the result's shape, at `batch`, `row` and `place`.
std::string place_text(const ProductView& view, const TensorDesc& tensor, const std::string& parameter) {
    const AxisList batches(tensor, 0, view.batch_axes), rows(tensor, view.batch_axes, view.lead_axes),
        columns(tensor, view.lead_axes, tensor.shape.size());
    return fmt::format("(({}*){})[{} + {} + {}]", memory_type(tensor.dtype), parameter, batches.offset("batch"),
                       rows.offset("row"), columns.offset("place"));
}

// The value of an element of a further input.
std::string input_text(const ProductView& view, const TensorDesc& input, const std::string& parameter) {
    const std::string place = place_text(view, input, parameter);
    if (!is_in_partial_sums(input)) return loaded(input.dtype, place);
    return fmt::format("sum_of_parts<{}>(&{}, {})", part_count(input), place, size_text(element_count(input.shape)));
}

// The part of a result in partial sums that `part` numbers.
std::string parted(const TensorDesc& output) {
    return fmt::format("((float*)out0 + part * {})", size_text(element_count(output.shape)));
}

// The elements of a result at `row` and `column`. An output that holds some columns takes those.
std::string out_text(const Problem& problem, const ProductView& view) {
    const Epilogue epilogue = epilogue_of(problem);
    std::string text = "    const auto out = [&](i64 row, i64 column, float v0) {\n        i64 place = column;\n";
    if (const TensorDesc& output = problem.outputs[0]; is_in_partial_sums(output))
        text += fmt::format("        if (part != 0) {{\n            {} = v0;\n            return;\n        }}\n",
                            place_text(view, output, parted(output)));
    for (std::size_t i = 0; i < epilogue.inputs.size(); ++i)
        text += fmt::format("        const {} v{} = {};\n", register_type(epilogue.inputs[i].dtype), i + 1,
                            input_text(view, epilogue.inputs[i], fmt::format("in{}", i + 2)));
    text += body_text(epilogue.body, "        ");
    const bool has_columns = problem.attributes.has("columns");
    for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
        const TensorDesc& output = problem.outputs[i];
        const std::string store = fmt::format("{} = {};\n", place_text(view, output, fmt::format("out{}", i)),
                                              stored(output.dtype, fmt::format("v{}", epilogue.body.results[i])));
        if (!has_columns) {
            text += "        " + store;
            continue;
        }
        text += fmt::format("        place = column - {};\n        if (place >= 0 && place < {}) {}",
                            size_text(problem.attributes.dims("columns")[i]),
                            size_text(AxisList(output, view.lead_axes, output.shape.size()).count()), store);
    }
    return text + "    };\n";
}

}  // namespace

ProductView product_view(const Problem& problem) {
    const TensorDesc &a = problem.inputs[0], &b = problem.inputs[1];
    const std::size_t rank = a.shape.size();
    ProductView view;
    view.lead_axes = rank - 1;
    view.batch_axes = rank - 2;
    while (view.batch_axes > 0 &&
           (b_stride(problem, view.batch_axes - 1) == Dim(0) || a.shape[view.batch_axes - 1] == Dim(1)))
        --view.batch_axes;
    view.a_batches = AxisList(a, 0, view.batch_axes);
    view.a_rows = AxisList(a, view.batch_axes, rank - 1);
    view.batches = 1;
    for (std::size_t axis = 0; axis < view.batch_axes; ++axis) {
        view.b_batches.add(a.shape[axis], b_stride(problem, axis));
        view.batches = view.batches * a.shape[axis];
    }
    view.rows = view.a_rows.count();
    view.columns = b.shape.back();
    view.depth = a.shape.back();
    view.a_depth_stride = a.strides.back();
    view.b_depth_stride = b.strides[b.strides.size() - 2];
    view.b_column_stride = b.strides.back();
    // An axis of size 1 may have any stride.
    if (view.depth == Dim(1)) view.a_depth_stride = 1;
    view.b_is_along_depth = view.b_depth_stride == Dim(1) && !(view.b_column_stride == Dim(1));
    view.a_is_wide = view.a_depth_stride == Dim(1) && is_multiple(view.depth, 4) && are_multiples(view.a_rows, 4) &&
                     are_multiples(view.a_batches, 4);
    const Dim& along = view.b_is_along_depth ? view.depth : view.columns;
    const Dim& across = view.b_is_along_depth ? view.b_column_stride : view.b_depth_stride;
    view.b_dtype = b.dtype;
    const auto of_16_bytes = static_cast<std::int64_t>(16 / size_of(b.dtype));
    view.b_is_wide = (view.b_is_along_depth || view.b_column_stride == Dim(1)) && is_multiple(along, of_16_bytes) &&
                     is_multiple(across, of_16_bytes) && are_multiples(view.b_batches, of_16_bytes);
    return view;
}

bool is_sum_with_product(const Problem& problem) {
    if (problem.outputs.size() != 1 || problem.outputs[0].dtype != DType::f32 || problem.attributes.has("columns"))
        return false;
    const Body body = epilogue_of(problem).body;
    std::vector<int> occurrences(body.inputs.size(), 0);
    occurrences[0] = 1;
    for (const Step& step : body.steps) {
        if (step.op != "add" || step.dtype != DType::f32) return false;
        int sum = 0;
        for (const int operand : step.operands) sum += occurrences[static_cast<std::size_t>(operand)];
        occurrences.push_back(sum);
    }
    return occurrences[static_cast<std::size_t>(body.results[0])] == 1;
}

Refusal product_refusal(const Problem& problem) {
    if (problem.outputs.size() == 1 && is_in_partial_sums(problem.outputs[0])) {
        Problem plain = problem;
        plain.outputs[0].layout.clear();
        if (Refusal no = product_refusal(plain); !no.empty()) return no;
        return is_sum_with_product(plain) ? Refusal() : "needs a sum of the product and other terms";
    }
    if (Refusal no = needs_plain_memory_or_partial_sums(problem); !no.empty()) return no;
    if (problem.inputs.size() < 2 || problem.outputs.empty()) return "needs two inputs and an output";
    const TensorDesc &a = problem.inputs[0], &b = problem.inputs[1];
    if (!a.layout.empty() || !b.layout.empty()) return "needs factors in plain memory";
    if (a.dtype != DType::f32 || (b.dtype != DType::f32 && !is_widening(b.dtype, DType::f32)))
        return "needs f32, the second factor in f32, f16 or bf16";
    if (a.shape.size() < 2 || b.shape.size() < 2 || b.shape.size() > a.shape.size()) return "needs matrices";
    const bool is_fused = problem.definition == "fused";
    if (!is_fused && problem.inputs.size() != 2) return "needs two inputs";
    if (is_fused && (!parts_of_fused(problem) || problem.body[0].op != "matmul"))
        return "needs a body that begins with matmul";
    if (is_fused && problem.body[0].dtype != DType::f32) return "needs a product of f32";
    const std::size_t missing = a.shape.size() - b.shape.size();
    for (std::size_t axis = 0; axis + 2 < b.shape.size(); ++axis)
        if (!(b.shape[axis] == a.shape[axis + missing]))
            return "needs inputs with the output's batch axes (stride 0 repeats)";
    if (!(a.shape.back() == b.shape[b.shape.size() - 2])) return "needs operands of one depth";
    const Shape shape = product_shape(problem);
    const Epilogue epilogue = epilogue_of(problem);
    for (const TensorDesc& input : epilogue.inputs)
        if (input.shape != shape) return "needs further inputs of the shape of the product";
    const bool has_columns = problem.attributes.has("columns");
    for (const TensorDesc& output : problem.outputs) {
        if (!has_columns && output.shape != shape) return "needs outputs of the shape of the product";
        if (output.shape.size() < shape.size()) return "needs outputs with the leading axes of the product";
        for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis)
            if (!(output.shape[axis] == shape[axis])) return "needs outputs with the leading axes of the product";
    }
    return body_refusal(epilogue.body, problem.outputs);
}

std::string product_operands_text(const Problem& problem, const ProductView& view) {
    std::string text = fmt::format(
        "    ProductOperands<{}> p;\n    p.a = (const float*)in0 + {};\n    p.b = (const {}*)in1 + {};\n    p.rows = "
        "{};\n"
        "    p.columns = {};\n    p.depth = {};\n    p.a_depth_stride = {};\n    p.b_depth_stride = {};\n"
        "    p.b_column_stride = {};\n    p.a_wide = {} && is_aligned(p.a);\n    p.b_wide = {} && is_aligned(p.b);\n",
        stored_type(view.b_dtype), view.a_batches.offset("batch"), memory_type(view.b_dtype),
        view.b_batches.offset("batch"), size_text(view.rows), size_text(view.columns), size_text(view.depth),
        size_text(view.a_depth_stride), size_text(view.b_depth_stride), size_text(view.b_column_stride), view.a_is_wide,
        view.b_is_wide);
    text += fmt::format("    const auto a_row = [&](i64 row) {{ return {}; }};\n", view.a_rows.offset("row"));
    return text + out_text(problem, view);
}

Cost product_cost(const Problem& problem, double efficiency) {
    const double elements = static_cast<double>(element_count(product_shape(problem)).constant());
    const double depth = static_cast<double>(problem.inputs[0].shape.back().constant());
    return {elements * (2 * depth + operations_of(epilogue_of(problem).body)), bytes_of(problem), efficiency};
}

}  // namespace cairn::kernels::cuda
