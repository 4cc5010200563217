#include "kernels/cuda/generate/pointwise_text.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/rows/rows.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

/// Elementwise bodies, the atomic elementwise ops, and activations with definitions of their own: one thread for four
/// elements.
namespace cairn::kernels::cuda {
namespace {

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain_memory_or_partial_sums(problem); !no.empty()) return no;
    if (problem.outputs.empty()) return "needs an output";
    return elementwise_refusal(problem);
}

KernelCode code(const Problem& problem) {
    Pointwise kernel;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i)
        kernel.inputs.push_back({fmt::format("in{}", i), problem.inputs[i].dtype, AxisList(problem.inputs[i]), 0,
                                 part_count(problem.inputs[i])});
    for (std::size_t i = 0; i < problem.outputs.size(); ++i)
        kernel.outputs.push_back({fmt::format("out{}", i), problem.outputs[i].dtype, AxisList(problem.outputs[i])});
    kernel.body = body_of(problem);
    kernel.count = element_count(problem.outputs[0].shape);
    return pointwise_code(problem, "elementwise", kernel);
}

Cost cost(const Problem& problem) { return memory_cost(problem, operations_of(body_of(problem))); }

std::vector<InPlace> pairs(int inputs, int outputs) {
    std::vector<InPlace> all;
    for (int o = 0; o < outputs; ++o)
        for (int i = 0; i < inputs; ++i) all.push_back({i, o});
    return all;
}

constexpr int most_parted = 4;  ///< inputs of a body that may be in partial sums

struct Op {
    std::string_view name;
    int operands;
    std::string_view from, to;  ///< dtypes of a sample
};
constexpr Op ops[] = {
    {"neg", 1, "f32", "f32"},
    {"abs", 1, "i32", "i32"},
    {"exp", 1, "f32", "f32"},
    {"log", 1, "f32", "f32"},
    {"sqrt", 1, "f32", "f32"},
    {"rsqrt", 1, "f32", "f32"},
    {"sin", 1, "f32", "f32"},
    {"cos", 1, "f32", "f32"},
    {"tanh", 1, "f32", "f32"},
    {"erf", 1, "f32", "f32"},
    {"floor", 1, "f32", "f32"},
    {"add", 2, "f32", "f32"},
    {"sub", 2, "i32", "i32"},
    {"mul", 2, "f16", "f16"},
    {"div", 2, "i64", "i64"},
    {"min", 2, "f32", "f32"},
    {"max", 2, "bf16", "bf16"},
    {"pow", 2, "f32", "f32"},
    {"eq", 2, "i64", "bool"},
    {"ne", 2, "bool", "bool"},
    {"lt", 2, "f32", "bool"},
    {"le", 2, "i8", "bool"},
    {"gt", 2, "u8", "bool"},
    {"ge", 2, "i32", "bool"},
    {"logical_and", 2, "bool", "bool"},
    {"logical_or", 2, "bool", "bool"},
    {"logical_xor", 2, "bool", "bool"},
    {"logical_not", 1, "bool", "bool"},
    {"bitwise_and", 2, "i32", "i32"},
    {"relu", 1, "f32", "f32"},
    {"sigmoid", 1, "f32", "f32"},
    {"silu", 1, "f32", "f32"},
    {"gelu", 1, "f32", "f32"},
    {"gelu_tanh", 1, "f32", "f32"},
};

std::vector<std::string> samples_of(const Op& op) {
    std::vector<std::string> samples;
    for (const auto& [shape, strides, where] :
         {std::array{"[N,7]", ":(1,N)", " where N in 0..700"}, std::array{"[3,8]", ":(0,1)", ""}}) {
        std::string text = fmt::format("{} | {}{}", op.name, op.from, shape);
        if (op.operands == 2) text += fmt::format(" {}{}{}", op.from, shape, strides);
        samples.push_back(fmt::format("{} -> {}{}{}", text, op.to, shape, where));
    }
    return samples;
}

}  // namespace

void add_elementwise(std::vector<Kernel>& kernels) {
    const auto add = [&](std::string_view name, std::vector<InPlace> in_place, std::vector<std::string> samples) {
        kernels.push_back(cuda_row("elementwise", name, "", accepts, code, cost, std::move(samples)));
        kernels.back().layout_inputs = partial_sums_inputs(std::min(in_place.back().input + 1, most_parted));
        kernels.back().in_place = std::move(in_place);
    };
    add("elementwise", pairs(4, 4),
        {"elementwise {2=add(0,1):f32 3=tanh(2):f32} | f32[5,N] f32[5,N]:(0,1) -> f32[5,N] results (3) where N in "
         "0..300",
         "elementwise {2=const(0.5):f32 3=mul(0,2):f32 4=gt(3,1):bool 5=where(4,3,1):f32} | f32[T,9] f32[T,9] -> "
         "f32[T,9] bool[T,9] results (5,4) where T in 1..80",
         "elementwise {1=cast(0):f32 2=exp(1):f32 3=cast(2):f16} | f16[33] -> f16[33] results (3)",
         "elementwise {3=add(0,2):f32 4=add(1,3):f32} | f32[1,T,768]:(0,0,1)! f32[1,T,768] f32[1,T,768] -> "
         "f32[1,T,768] results (4) where T in 1..1024",
         "elementwise {3=add(0,2):f32 4=tanh(3):f32 5=add(4,1):f32} | f32[T,9]@partial_sums.3 f32[T,9] "
         "f32[T,9]@partial_sums.2 -> f32[T,9] results (5) where T in 0..80",
         "elementwise {2=add(0,1):f32} | f32[T,768]@partial_sums.4 f32[T,768]:(0,1)! -> f32[T,768] results (2) where T "
         "in 1..12"});
    for (const Op& op : ops) add(op.name, pairs(op.operands, 1), samples_of(op));
    add("where", pairs(3, 1),
        {"where | bool[3,N] f32[3,N] f32[3,N] -> f32[3,N] where N in 0..70",
         "where | bool[5,7]:(0,1) i64[5,7] i64[5,7]:(1,5) -> i64[5,7]"});
    add("cast", pairs(1, 1),
        {"cast dtype=(1) | i32[3,N] -> f32[3,N] where N in 0..70", "cast dtype=(5) | f32[3,30] -> i32[3,30]",
         "cast dtype=(2) | f32[40] -> f16[40]", "cast dtype=(8) | f32[40] -> bool[40]"});
}

}  // namespace cairn::kernels::cuda
