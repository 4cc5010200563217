#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/eigen/matmul_plan.hpp"
#include "kernels/cpu/eigen/table.hpp"
#include "kernels/cpu/matmul_operands.hpp"
#include "kernels/cpu/simd/elementwise/block_program_compiler.hpp"

/// Registers `matmul` and fused bodies that begin with one, computed by Eigen: the provider that is always available.
/// Operands need contiguous rows or columns.
namespace cairn::kernels::cpu {
namespace {

Refusal refuse_dtype_or_layout(const Problem& problem) {
    const DType dtype = problem.outputs[0].dtype;
    if (dtype != DType::f32 && dtype != DType::f64) return "needs f32 or f64";
    for (const TensorDesc& input : problem.inputs) {
        if (input.dtype != dtype) return "needs operands of one dtype";
        if (!input.layout.empty()) return "needs plain memory, not the layout " + input.layout;
    }
    if (!problem.outputs[0].layout.empty()) return "writes plain memory only";
    return {};
}

// True if Eigen can read the rows or columns with one leading dimension.
bool is_matrix(const TensorDesc& tensor) {
    const std::size_t rank = tensor.shape.size();
    return rank >= 2 && (has_unit_stride(tensor, rank - 1) || has_unit_stride(tensor, rank - 2));
}

Refusal accepts_matmul(const Problem& problem) {
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "needs two inputs and one output";
    if (Refusal refusal = refuse_dtype_or_layout(problem); !refusal.empty()) return refusal;
    const TensorDesc& out = problem.outputs[0];
    for (const TensorDesc& input : problem.inputs)
        if (input.shape.size() != out.shape.size() || !is_matrix(input))
            return "needs matrices with contiguous rows or columns";
    if (!has_unit_stride(out, out.shape.size() - 1)) return "needs an output with contiguous rows";
    return {};
}

// The product is stored in the memory of the output until the epilogue overwrites it.
Refusal accepts_fused(const Problem& problem) {
    auto parts = parts_of_fused(problem);
    if (!parts || parts->product.definition != "matmul" || problem.outputs.size() != 1)
        return "needs one output and a body that begins with a product";
    if (!problem.attributes.empty()) return "writes all columns to one output";
    const TensorDesc& out = problem.outputs[0];
    if (out.dtype != parts->product.outputs[0].dtype) return "needs a result of the product's dtype";
    parts->product.outputs[0] = out;
    if (Refusal refusal = accepts_matmul(parts->product); !refusal.empty()) return refusal;
    for (std::size_t i = 2; i < problem.inputs.size(); ++i) {
        if (problem.inputs[i].shape != out.shape) return "needs inputs of the shape of the output (stride 0 repeats)";
        if (!problem.inputs[i].layout.empty()) return "needs plain memory for the inputs after the weight";
    }
    BlockProgram body;
    return compile_block_program(body_steps(parts->epilogue), {out.dtype}, body);
}

std::shared_ptr<EigenPlan> plan_of(const Problem& problem, int threads) {
    auto plan = std::make_shared<EigenPlan>(
        EigenPlan{problem.outputs[0].dtype == DType::f64, problem.definition == "fused", threads, {}});
    const auto parts = parts_of_fused(problem);
    if (!parts) return plan;
    if (const Refusal no = compile_block_program(body_steps(parts->epilogue), {problem.outputs[0].dtype}, plan->body);
        !no.empty())
        throw InternalError("eigen", no);
    return plan;
}

std::shared_ptr<const void> prepare(const Problem& problem, int threads) { return plan_of(problem, threads); }

Dim workspace(const Problem& problem, int threads) {
    const auto element = static_cast<std::int64_t>(size_of(problem.outputs[0].dtype));
    return Dim((EigenBlocks::elements * element + plan_of(problem, threads)->body.bytes_per_member()) * threads);
}

Cost cost(const Problem& problem) {
    // One row is a matrix-vector product, for which nothing is packed.
    const Shape& shape = problem.outputs[0].shape;
    const bool is_one_row = shape.size() < 2 || shape[shape.size() - 2] == Dim(1);
    Cost cost = is_one_row ? product_cost(problem, 0.5) : tiled_product_cost(problem, 0.5, 16, 8);
    if (problem.definition != "fused") return cost;
    const TensorDesc& out = problem.outputs[0];
    cost.flops += epilogue_flops(problem, cost.efficiency);
    // The product is written to memory and read back.
    cost.bytes +=
        2 * static_cast<double>(element_count(out.shape).constant()) * static_cast<double>(size_of(out.dtype));
    return cost;
}

Kernel kernel(FeatureSet needs, std::string definition, Refusal (*accepts)(const Problem&), Run run,
              std::vector<std::string> samples) {
    Kernel made;
    made.id = "cpu.eigen_" + std::string(isa_level_name(needs)) + "." + definition + "@1";
    made.definition = std::move(definition);
    made.needs = needs;
    made.accepts = accepts;
    made.run = run;
    made.workspace = workspace;
    made.cost = cost;
    made.prepare = prepare;
    made.samples = std::move(samples);
    return made;
}

}  // namespace

void add_eigen_matmul(std::vector<Kernel>& kernels, FeatureSet needs, const EigenTable& table) {
    kernels.push_back(kernel(
        needs, "fused", accepts_fused, table.eigen_matmul,
        {"fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[B,T,96] f32[B,96,130]:(0,130,1)! f32[B,T,130]:(0,0,1)! -> "
         "f32[B,T,130] results (4) where B in 1..3, T in 0..70",
         "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=gelu(5):f32 7=add(6,3):f32} | f32[T,40] f32[40,33]:(1,40)! "
         "f32[T,33]:(0,1)! f32[T,33] -> f32[T,33]:(50,1) results (7) where T in 1..40",
         "fused {3=matmul(0,1):f64 4=mul(2,3):f64 5=gelu_tanh(4):f64} | f64[3,40] f64[40,9] f64[3,9]:(1,0) -> f64[3,9] "
         "results (5)",
         "fused {5=matmul(0,1):f32 6=sigmoid(5):f32 7=mul(5,6):f32 8=cast(7):f16 9=cast(8):f32 10=where(3,9,2):f32 "
         "11=mul(10,4):f32} | f32[2,T,16]:(16*T*3,48,1) f32[2,16,600]:(0,600,1) f32[2,T,600]:(600,0,1) "
         "bool[2,T,600]:(T,1,0) f32[2,T,600]:(0,0,0) -> f32[2,T,600] results (11) where T in 0..5",
         "fused {2=matmul(0,1):f32 3=const(-1.5):f32 4=max(2,3):f32} | f32[T,300] f32[300,1] -> f32[T,1] results (4) "
         "where T in 1..600"}));
    kernels.push_back(kernel(
        needs, "matmul", accepts_matmul, table.eigen_matmul,
        {"matmul | f32[T,300] f32[300,200]! -> f32[T,200] where T in 0..300",
         "matmul | f32[1,K] f32[K,257]:(1,K)! -> f32[1,257] where K in 0..600",
         "matmul | f32[2,3,T,16]:(16*T*9,16,48,1) f32[2,3,16,T]:(16*T*9,16,1,48) -> f32[2,3,T,T] where T in 1..33",
         "matmul | f32[4,T,32] f32[4,32,48]:(0,48,1) -> f32[4,T,48] where T in 1..50",
         "matmul | f64[T,65]:(1,T) f64[65,33] -> f64[T,33] where T in 1..300",
         "matmul | f64[5,9]:(1,5) f64[9,1] -> f64[5,1]"}));
}

}  // namespace cairn::kernels::cpu
