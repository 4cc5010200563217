#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/gemm/gemm_plan.hpp"
#include "kernels/cpu/gemm/table.hpp"
#include "kernels/cpu/matmul_operands.hpp"

#include <memory>

/// Registers `matmul` of any dtype for plain operands of any strides, and the f32 argmax over the columns of each row.
namespace cairn::kernels::cpu {
namespace {

Refusal refuse_operands(const Problem& problem, DType dtype) {
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "has the wrong number of operands";
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side) {
            if (tensor.dtype != dtype) return "needs " + std::string(to_string(dtype));
            if (!tensor.layout.empty()) return "needs plain memory, not the layout " + tensor.layout;
        }
    return {};
}

template <DType dtype>
Refusal accepts_matmul(const Problem& problem) {
    if (Refusal refusal = refuse_operands(problem, dtype); !refusal.empty()) return refusal;
    const std::size_t rank = problem.outputs[0].shape.size();
    if (rank < 2 || problem.inputs[0].shape.size() != rank || problem.inputs[1].shape.size() != rank)
        return "needs inputs of the output's rank, at least 2";
    return {};
}

Dim workspace(const Problem&, int threads) { return Dim(GemmBlocks::bytes * threads); }

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    return std::make_shared<GemmPlan>(GemmPlan{problem.outputs[0].dtype});
}

// Operations are counted at the f32 rate: dtypes with fewer elements per vector are less efficient.
double efficiency_of(DType dtype) {
    switch (dtype) {
        case DType::f64: return 0.35;
        case DType::i8:
        case DType::u8: return 0.5;
        case DType::i32: return 0.3;
        case DType::i64: return 0.1;
        default: return 0.75;
    }
}

Cost cost(const Problem& problem) {
    Cost cost = product_cost(problem, efficiency_of(problem.outputs[0].dtype));
    const Shape& shape = problem.outputs[0].shape;
    // A single row does not reach the read bandwidth.
    if (shape[shape.size() - 2] == Dim(1)) cost.bytes *= 1.25;
    return cost;
}

const char* const f32_samples[] = {
    "matmul | f32[T,300] f32[300,200]! -> f32[T,200] where T in 0..300",
    "matmul | f32[1,K] f32[K,257]:(1,K)! -> f32[1,257] where K in 0..600",
    "matmul | f32[T,130]:(1,T) f32[130,140]:(1,130) -> f32[T,140] where T in 1..70",
    "matmul | f32[T,33]:(70,2) f32[33,50]:(150,3) -> f32[T,50]:(160,3) where T in 1..30",
    "matmul | f32[T,270] f32[270,1] -> f32[T,1] where T in 1..400",
    "matmul | f32[T,40]:(1,T) f32[40,5] -> f32[T,5]:(9,1) where T in 0..100",
    "matmul | f32[2,3,T,16]:(16*T*9,16,48,1) f32[2,3,16,T]:(16*T*9,16,1,48) -> f32[2,3,T,T] where T in 1..33",
    "matmul | f32[4,T,32] f32[4,32,48]:(0,48,1) -> f32[4,T,48] where T in 1..50",
    "matmul | f32[2,1,3,40]:(200,200,40,1) f32[2,1,40,9]:(0,0,9,1) -> f32[2,1,3,9]",
    "matmul | f32[B,4,4] f32[B,4,4] -> f32[B,4,4] where B in 0..300"};

// `#` is replaced by the dtype.
const char* const samples[] = {
    "matmul | #[T,70] #[70,165] -> #[T,165] where T in 0..40",
    "matmul | #[2,3,5,K]:(15*K,5*K,K,1) #[2,3,K,4]:(0,4*K,1,K) -> #[2,3,5,4] where K in 0..160",
    "matmul | #[T,140]:(1,T) #[140,72]:(1,140) -> #[T,72]:(80,1) where T in 1..200",
    "matmul | #[T,150] #[150,90]:(1,150) -> #[T,90] where T in 1..20",
    "matmul | #[T,300] #[300,210]:(218,1) -> #[T,210] where T in 1..13",
    "matmul | #[T,33] #[33,1] -> #[T,1] where T in 1..70"};

std::string with_dtype(std::string text, std::string_view dtype) {
    for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#')) text.replace(at, 1, dtype);
    return text;
}

Kernel matmul(FeatureSet needs, DType dtype, Refusal (*accepts)(const Problem&), Run run) {
    const std::string name(to_string(dtype));
    Kernel made;
    made.id =
        "cpu.gemm_" + std::string(isa_level_name(needs)) + ".matmul." + name + (size_of(dtype) == 2 ? "@7" : "@6");
    made.definition = "matmul";
    made.needs = needs;
    made.accepts = accepts;
    made.run = run;
    made.workspace = workspace;
    made.cost = cost;
    made.prepare = prepare;
    return made;
}

template <DType dtype>
void add_matmul(std::vector<Kernel>& kernels, FeatureSet needs, Run run) {
    Kernel& made = kernels.emplace_back(matmul(needs, dtype, accepts_matmul<dtype>, run));
    if (dtype == DType::f32)
        made.samples.assign(std::begin(f32_samples), std::end(f32_samples));
    else
        for (const char* sample : samples) made.samples.push_back(with_dtype(sample, to_string(dtype)));
}

Refusal accepts_argmax(const Problem& problem) {
    const std::size_t inputs = problem.inputs.size();
    if (inputs < 2 || inputs > 3 || problem.outputs.size() != 1) return "has the wrong number of operands";
    for (const TensorDesc& input : problem.inputs) {
        if (input.dtype != DType::f32) return "needs f32";
        if (!input.layout.empty()) return "needs plain memory, not the layout " + input.layout;
    }
    const TensorDesc &x = problem.inputs[0], &weight = problem.inputs[1], &out = problem.outputs[0];
    if (x.shape.size() < 2 || weight.shape.size() != 2 || !(weight.shape[0] == x.shape.back()))
        return "needs a weight [K, N]";
    if (!has_uniform_rows(x)) return "needs contiguous rows of x with one row stride";
    if (Refusal no = inputs == 3 ? refuse_bias(problem.inputs[2], weight) : Refusal(); !no.empty()) return no;
    return refuse_argmax_output(out, x);
}

void add_argmax(std::vector<Kernel>& kernels, FeatureSet needs, Run run) {
    Kernel& made = kernels.emplace_back();
    made.id = "cpu.gemm_" + std::string(isa_level_name(needs)) + ".linear_argmax.f32@4";
    made.definition = "linear_argmax";
    made.needs = needs;
    made.accepts = accepts_argmax;
    made.run = run;
    made.workspace = [](const Problem& problem, int threads) {
        return workspace(problem, threads) + argmax_workspace_bytes(problem, threads);
    };
    made.prepare = [](const Problem& problem, int) -> std::shared_ptr<const void> {
        return std::make_shared<GemmPlan>(GemmPlan{DType::f32, problem.inputs.size() == 3});
    };
    made.cost = [](const Problem& problem) {
        Cost cost = product_cost(problem, efficiency_of(DType::f32));
        cost.flops *= static_cast<double>(problem.inputs[1].shape[1].constant());
        // As in `cost` of a product.
        if (element_count(problem.outputs[0].shape) == Dim(1)) cost.bytes *= 1.25;
        return cost;
    };
    made.samples = {
        "linear_argmax | f32[T,70] f32[70,165] -> i32[T,1] where T in 0..400",
        "linear_argmax | f32[T,130]:(150,1) f32[130,257]:(1,130)! f32[257]! -> i32[T,1]:(3,1) where T in 1..30",
        "linear_argmax | f32[B,3,40] f32[40,5]:(9,1) f32[5] -> i32[B,3,1] where B in 0..9",
        "linear_argmax | f32[T,600] f32[600,1700] -> i32[T,1] where T in 1..40"};
}

}  // namespace

void add_gemm(std::vector<Kernel>& kernels, FeatureSet needs, const GemmTable& table) {
    add_matmul<DType::f32>(kernels, needs, table.gemm_float);
    add_matmul<DType::f16>(kernels, needs, table.gemm_float);
    add_matmul<DType::bf16>(kernels, needs, table.gemm_float);
    add_argmax(kernels, needs, table.gemm_argmax);
    add_matmul<DType::f64>(kernels, needs, table.gemm_double);
    add_matmul<DType::i8>(kernels, needs, table.gemm_bytes);
    add_matmul<DType::u8>(kernels, needs, table.gemm_bytes);
    add_matmul<DType::i32>(kernels, needs, table.gemm_i32);
    add_matmul<DType::i64>(kernels, needs, table.gemm_i64);
}

}  // namespace cairn::kernels::cpu
