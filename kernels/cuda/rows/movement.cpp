#include "kernels/cuda/generate/pointwise_text.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/rows/rows.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

/// Ops that only move elements: each is a strided view of its input, which is copied. `copy`, between any strides, also
/// stores the new rows of a state.
namespace cairn::kernels::cuda {
namespace {

// The input as the operand of a pointwise kernel; `reshape` and `copy` keep the linear index.
PointwiseOperand view_of(const Problem& problem) {
    const TensorDesc &in = problem.inputs[0], &out = problem.outputs[0];
    const std::string& name = problem.definition;
    const Attributes& attributes = problem.attributes;
    PointwiseOperand view{"in0", in.dtype, {}, 0};
    if (name == "copy" || name == "reshape") {
        view.axes = AxisList(in);
        view.parts = part_count(in);
        return view;
    }
    std::vector<Dim> strides(out.shape.size(), Dim(0));
    if (name == "transpose") {
        const auto& order = attributes.dims("permutation");
        for (std::size_t i = 0; i < strides.size(); ++i)
            strides[i] = in.strides[axis_index(order[i].constant(), in.shape.size())];
    } else if (name == "broadcast") {
        const std::size_t before = out.shape.size() - in.shape.size();
        for (std::size_t i = 0; i < in.shape.size(); ++i)
            strides[before + i] = in.shape[i] == Dim(1) ? Dim(0) : in.strides[i];
    } else {  // slice, window
        const std::size_t axis = axis_index(attributes.integer("axis"), in.shape.size());
        for (std::size_t i = 0; i < in.shape.size(); ++i) strides[i] = in.strides[i];
        strides[axis] = strides[axis] * attributes.integer(name == "slice" ? "step" : "stride");
        if (name == "slice")
            view.begin = attributes.dims("start")[0] * in.strides[axis];
        else
            strides.back() = in.strides[axis] * attributes.integer("dilation");
    }
    for (std::size_t i = 0; i < strides.size(); ++i) view.axes.add(out.shape[i], strides[i]);
    return view;
}

Refusal accepts(const Problem& problem) {
    const bool is_copy = problem.definition == "copy";
    if (Refusal no = is_copy ? needs_plain_memory_or_partial_sums(problem) : needs_plain_memory(problem); !no.empty())
        return no;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    const TensorDesc &in = problem.inputs[0], &out = problem.outputs[0];
    if (in.dtype != out.dtype) return "needs one dtype";
    if (is_copy && in.shape != out.shape) return "needs equal shapes";
    // A size that is 1 at some of the allowed values would repeat there.
    if (problem.definition == "broadcast")
        for (std::size_t i = 0; i < in.shape.size(); ++i)
            if (!(in.shape[i] == Dim(1)) && !(in.shape[i] == out.shape[out.shape.size() - in.shape.size() + i]))
                return "needs axes that are 1 or those of the output";
    return {};
}

KernelCode code(const Problem& problem) {
    Pointwise kernel;
    const TensorDesc& out = problem.outputs[0];
    kernel.inputs = {view_of(problem)};
    kernel.outputs = {{"out0", out.dtype, AxisList(out)}};
    kernel.body = {{out.dtype}, {}, {0}};
    kernel.count = element_count(out.shape);
    kernel.moves_bits = kernel.inputs[0].parts == 1;
    return pointwise_code(problem, "movement", kernel);
}

Cost cost(const Problem& problem) { return memory_cost(problem, 1); }

}  // namespace

void add_movement(std::vector<Kernel>& kernels) {
    const auto add = [&](std::string_view name, std::vector<std::string> samples) {
        kernels.push_back(cuda_row("movement", name, "", accepts, code, cost, std::move(samples)));
    };
    add("copy", {"copy | f32[T,8]:(1,T) -> f32[T,8]:(20,1) where T in 0..3000",
                 "copy | f32[3,T,8] -> f32[3,T,8]:(512,8,1) where T in 1..64", "copy | bool[4,4]:(0,1) -> bool[4,4]",
                 "copy | bf16[] -> bf16[]", "copy | f32[T,5]@partial_sums.3 -> f32[T,5]:(8,1) where T in 0..90",
                 "copy | f32[1,T,768]@partial_sums.8 -> f32[1,T,768] where T in 1..12"});
    kernels.back().layout_inputs = partial_sums_inputs(1);
    add("reshape", {"reshape shape=(N,12) | f32[N,3,4] -> f32[N,12] where N in 0..900",
                    "reshape shape=(6,4) | i8[2,3,4]:(3,1,6) -> i8[6,4]", "reshape shape=() | f64[1,1] -> f64[]"});
    add("transpose", {"transpose permutation=(-2,-3,-1) | f32[T,4,9] -> f32[4,T,9] where T in 0..700",
                      "transpose permutation=(-1,-2) | i64[33,70] -> i64[70,33]"});
    add("broadcast", {"broadcast shape=(3,N,4) | f32[N,1] -> f32[3,N,4] where N in 0..900",
                      "broadcast shape=(5,2) | bool[] -> bool[5,2]"});
    add("slice", {"slice axis=(-2) start=(2) stop=(N) step=(1) | f32[3,N,4] -> f32[3,N-2,4] where N in 2..90",
                  "slice axis=(-1) start=(1) stop=(9) step=(3) | i32[4,10] -> i32[4,3]"});
    add("window", {"window axis=(-1) size=(3) stride=(2) dilation=(1) | f32[2,11] -> f32[2,5,3]"});
}

}  // namespace cairn::kernels::cuda
