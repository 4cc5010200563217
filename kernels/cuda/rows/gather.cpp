#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/offset_text.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>

/// gather, embedding, an embedding with a body, and iota. An index out of range is reported with its place and its
/// value, and its elements are left as they are.
namespace cairn::kernels::cuda {
namespace {

constexpr int threads = 256;

std::size_t gather_axis(const Problem& problem) {
    if (problem.definition == "embedding") return 0;
    return axis_index(problem.attributes.integer("axis"), problem.inputs[0].shape.size());
}

/// The operands of a gather by their axes before, at and behind the gathered one.
struct GatherView {
    AxisList from_before, from_behind, to_before, to_at, to_behind, indices;
    Dim size, stride;  ///< of the gathered axis
};

GatherView view_of(const Problem& problem) {
    const TensorDesc &table = problem.inputs[0], &indices = problem.inputs[1], &out = problem.outputs[0];
    const std::size_t axis = gather_axis(problem), behind = axis + indices.shape.size();
    return {AxisList(table, 0, axis),
            AxisList(table, axis + 1, table.shape.size()),
            AxisList(out, 0, axis),
            AxisList(out, axis, behind),
            AxisList(out, behind, out.shape.size()),
            AxisList(indices),
            table.shape[axis],
            table.strides[axis]};
}

// Four elements of 4 bytes at once where rows allow it.
bool has_runs(const Problem& problem, const GatherView& view) {
    using Run = AxisList::Run;
    if (size_of(problem.inputs[0].dtype) != 4) return false;
    if (view.from_behind.run_of_four() != Run::contiguous || view.to_behind.run_of_four() != Run::contiguous)
        return false;
    if (!is_multiple(view.from_behind.count(), 4) || !is_multiple(view.stride, 4)) return false;
    for (const AxisList* axes : {&view.from_before, &view.to_before, &view.to_at})
        for (const Axis& axis : axes->axes())
            if (!is_multiple(axis.stride, 4)) return false;
    return true;
}

/// Reads the index of `place`. One that is out of range ends the thread, and is reported where `reports` is true.
std::string index_text(const GatherView& view, DType dtype, std::string_view reports) {
    return fmt::format(
        "    const i64 index = (({}*)in1)[{}];\n    if (index < 0 || index >= {}) {{\n"
        "        if ({}) report_failure(status, 1, instruction, 1, place, index);\n        return;\n    }}\n",
        memory_type(dtype), view.indices.offset("place"), size_text(view.size), reports);
}

KernelCode gather_code(const Problem& problem) {
    const GatherView view = view_of(problem);
    const bool runs = has_runs(problem, view);
    const Dim behind = view.from_behind.count(), chosen = view.indices.count(), before = view.from_before.count();
    const int step = runs ? 4 : 1;
    KernelCode code;
    code.entry = entry_of("gather", problem);
    code.text = kernel_begin(problem, code.entry, threads);
    code.text += fmt::format(
        "    const i64 i = (i64(blockIdx.x) * {0} + threadIdx.x) * {1};\n    if (i >= {2}) return;\n"
        "    const i64 j = i % {3}, row = i / {3}, place = row % {4}, before = row / {4};\n",
        threads, step, size_text(before * chosen * behind), size_text(behind), size_text(chosen));
    code.text += index_text(view, problem.inputs[1].dtype, "j == 0 && before == 0");
    const std::string_view type = memory_type(problem.inputs[0].dtype);
    code.text += fmt::format(
        "    {0}* const x = ({0}*)in0 + {1} + index * {2} + {3};\n    {0}* const y = ({0}*)out0 + {4} + {5} + {6};\n",
        type, view.from_before.offset("before"), size_text(view.stride), view.from_behind.offset("j"),
        view.to_before.offset("before"), view.to_at.offset("place"), view.to_behind.offset("j"));
    if (runs)
        code.text +=
            "    if (is_aligned(x) && is_aligned(y)) {\n        *(uint4*)y = load_16_bytes(x);\n        return;\n    "
            "}\n"
            "    for (int e = 0; e < 4; ++e) y[e] = x[e];\n}\n";
    else
        code.text += "    *y = *x;\n}\n";
    code.grid = {blocks_for(before * chosen * behind, threads * step)};
    code.block = threads;
    return code;
}

Refusal gather_accepts(const Problem& problem) {
    if (Refusal no = needs_plain_memory(problem); !no.empty()) return no;
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "has the wrong number of operands";
    const TensorDesc &table = problem.inputs[0], &indices = problem.inputs[1], &out = problem.outputs[0];
    if (table.shape.empty()) return "needs a table";
    if (indices.dtype != DType::i32 && indices.dtype != DType::i64) return "needs indices i32 or i64";
    if (table.dtype != out.dtype) return "needs one dtype of table and output";
    if (out.shape.size() + 1 != table.shape.size() + indices.shape.size()) return "needs an output of all axes";
    return {};
}

constexpr double index_steps = 3;  ///< an index is loaded, and then what it names

Cost gather_cost(const Problem& problem) {
    const double elements = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    Cost cost{elements, 2 * elements * static_cast<double>(size_of(problem.outputs[0].dtype)), 0.5};
    cost.steps = index_steps;
    return cost;
}

Refusal fused_accepts(const Problem& problem) {
    if (Refusal no = needs_plain_memory(problem); !no.empty()) return no;
    const auto parts = parts_of_fused(problem);
    if (!parts || parts->product.definition != "embedding") return "needs an embedding and its epilogue";
    if (Refusal no = gather_accepts(parts->product); !no.empty()) return no;
    return elementwise_refusal(parts->epilogue);
}

// A thread for each element.
KernelCode fused_code(const Problem& problem) {
    const FusedParts parts = *parts_of_fused(problem);
    const GatherView view = view_of(parts.product);
    const Body body = body_of(parts.epilogue);
    const Dim count = element_count(problem.outputs[0].shape);
    const auto element = [](const std::string& pointer, DType dtype, const std::string& offset) {
        return fmt::format("(({}*){})[{}]", memory_type(dtype), pointer, offset);
    };
    KernelCode code;
    code.entry = entry_of("gather", problem);
    code.text = kernel_begin(problem, code.entry, threads);
    code.text += fmt::format(
        "    const i64 i = i64(blockIdx.x) * {0} + threadIdx.x;\n    if (i >= {1}) return;\n"
        "    const i64 j = i % {2}, place = i / {2};\n",
        threads, size_text(count), size_text(view.from_behind.count()));
    code.text += index_text(view, problem.inputs[1].dtype, "j == 0");
    const std::string row = fmt::format("index * {} + {}", size_text(view.stride), view.from_behind.offset("j"));
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
        const DType dtype = body.inputs[i];
        const std::string value =
            i == 0 ? element("in0", dtype, row)
                   : element(fmt::format("in{}", i + 1), dtype, AxisList(problem.inputs[i + 1]).offset("i"));
        code.text += fmt::format("    const {} v{} = {};\n", register_type(dtype), i, loaded(dtype, value));
    }
    code.text += body_text(body, "    ");
    for (std::size_t o = 0; o < problem.outputs.size(); ++o) {
        const TensorDesc& out = problem.outputs[o];
        code.text +=
            fmt::format("    {} = {};\n", element(fmt::format("out{}", o), out.dtype, AxisList(out).offset("i")),
                        stored(out.dtype, fmt::format("v{}", body.results[o])));
    }
    code.text += "}\n";
    code.grid = {blocks_for(count, threads)};
    code.block = threads;
    return code;
}

Cost fused_cost(const Problem& problem) {
    const Problem epilogue = parts_of_fused(problem)->epilogue;
    Cost cost = memory_cost(epilogue, operations_of(body_of(epilogue)));
    cost.steps += index_steps - 1;
    return cost;
}

KernelCode iota_code(const Problem& problem) {
    const TensorDesc& out = problem.outputs[0];
    const Body body{{DType::i64}, {{"cast", {0}, out.dtype, 0}}, {1}};
    // Integers wrap; floats are rounded.
    const std::string value = is_float(out.dtype) ? "v1" : fmt::format("{}(v0)", register_type(out.dtype));
    KernelCode code;
    code.entry = entry_of("iota", problem);
    code.text = kernel_begin(problem, code.entry, threads);
    code.text += fmt::format(
        "    const i64 i = i64(blockIdx.x) * {} + threadIdx.x;\n    if (i >= {}) return;\n    const i64 v0 = i + "
        "{};\n{}"
        "    (({}*)out0)[{}] = {};\n}}\n",
        threads, size_text(out.shape[0]), size_text(problem.attributes.dims("start")[0]),
        is_float(out.dtype) ? body_text(body, "    ") : "", memory_type(out.dtype), AxisList(out).offset("i"),
        stored(out.dtype, value));
    code.grid = {blocks_for(out.shape[0], threads)};
    code.block = threads;
    return code;
}

Refusal iota_accepts(const Problem& problem) {
    if (Refusal no = needs_plain_memory(problem); !no.empty()) return no;
    if (!problem.inputs.empty() || problem.outputs.size() != 1 || problem.outputs[0].shape.size() != 1)
        return "needs one output with one axis";
    return problem.outputs[0].dtype == DType::boolean ? "needs numbers" : "";
}

Cost iota_cost(const Problem& problem) { return memory_cost(problem, 1); }

}  // namespace

void add_gather(std::vector<Kernel>& kernels) {
    kernels.push_back(cuda_row(
        "gather", "gather", "", gather_accepts, gather_code, gather_cost,
        {"gather axis=(-2) | f32[50,9] i32[N] -> f32[N,9] where N in 0..200",
         "gather axis=(-2) | f16[2,7,3] i64[4,2] -> f16[2,4,2,3]", "gather axis=(-1) | u8[3,8]:(1,3) i32[5] -> u8[3,5]",
         "gather axis=(-2) | f32[1024,768]! i32[1,T] -> f32[1,T,768] where T in 1..1024"}));
    kernels.push_back(cuda_row("gather", "embedding", "", gather_accepts, gather_code, gather_cost,
                               {"embedding | f32[50257,768]! i32[1,T] -> f32[1,T,768] where T in 1..1024",
                                "embedding | bf16[9,24]! i64[3,T]:(1,3) -> bf16[3,T,24] where T in 1..60"}));
    kernels.push_back(
        cuda_row("gather", "fused", "", fused_accepts, fused_code, fused_cost,
                 {"fused {3=embedding(0,1):f32 4=add(3,2):f32} | f32[50257,768]! i32[1,1] f32[1,1,768]! -> "
                  "f32[1,1,768] results (4)",
                  "fused {3=embedding(0,1):f16 4=cast(3):f32 5=add(4,2):f32 6=tanh(5):f32} | f16[9,V] i64[3,T]:(1,3) "
                  "f32[3,T,V]:(0,0,1) -> f32[3,T,V] f32[3,T,V]:(1,3*V,3) results (6,5) where T in 1..40, V in 1..30"}));
    // As of products: an element of a further input is read by the thread that writes the same element of the output.
    kernels.back().in_place = {{2, 0}, {3, 0}, {4, 0}, {5, 0}};
    kernels.push_back(
        cuda_row("gather", "iota", "", iota_accepts, iota_code, iota_cost,
                 {"iota length=(T) start=(past) dtype=(5) | -> i32[T] where T in 1..1024, past in 0..1023",
                  "iota length=(9) start=(N) dtype=(1) | -> f32[9] where N in 0..50"}));
}

}  // namespace cairn::kernels::cuda
