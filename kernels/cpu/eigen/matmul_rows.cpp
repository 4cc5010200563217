#include "kernels/cpu/eigen/matmul.hpp"
#include "kernels/cpu/eigen/table.hpp"
#include "kernels/cpu/product.hpp"
#include "types/levels.hpp"

/// `matmul` and `linear` by Eigen: the provider that is always there. It takes operands whose rows or columns are
/// contiguous.
namespace cairn::inline v0::kernels::cpu {
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

// Rows or columns that Eigen can take with one leading dimension.
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

Refusal accepts_linear(const Problem& problem) {
    if (problem.inputs.size() != 3 || problem.outputs.size() != 1) return "needs x, a weight, a bias and one output";
    if (Refusal refusal = refuse_dtype_or_layout(problem); !refusal.empty()) return refusal;
    const TensorDesc &x = problem.inputs[0], &w = problem.inputs[1], &b = problem.inputs[2], &out = problem.outputs[0];
    if (w.shape.size() != 2 || b.shape.size() != 1 || !same_leading_axes(x, out))
        return "needs a weight [K, N] and a bias [N]";
    if (!is_matrix(w)) return "needs a weight with contiguous rows or columns";
    if (!has_unit_stride(b, 0)) return "needs a contiguous bias";
    if (x.shape.size() < 2) return "needs x with at least two axes";
    const std::size_t last = x.shape.size() - 1;
    if (!has_unit_stride(x, last) && !(last > 0 && has_unit_stride(x, last - 1)))
        return "needs rows or columns of x that are contiguous";
    if (!has_unit_stride(out, last)) return "needs an output with contiguous rows";
    return {};
}

Dim workspace(const Problem& problem, int threads) {
    return Dim(EigenBlocks::elements * static_cast<std::int64_t>(size_of(problem.outputs[0].dtype)) * threads);
}

std::shared_ptr<const void> prepare(const Problem& problem, int threads) {
    return std::make_shared<EigenPlan>(
        EigenPlan{problem.outputs[0].dtype == DType::f64, problem.definition == "linear", threads});
}

Cost cost(const Problem& problem) { return product_cost(problem, 0.5); }

Kernel kernel(FeatureSet needs, std::string definition, Refusal (*accepts)(const Problem&), Run run,
              std::vector<std::string> samples) {
    Kernel made;
    made.id = "cpu.eigen_" + std::string(level_name(needs)) + "." + definition + "@1";
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
    kernels.push_back(kernel(needs, "linear", accepts_linear, table.eigen_matmul,
                             {"linear | f32[B,T,96] f32[96,130]! f32[130]! -> f32[B,T,130] where B in 1..3, T in 0..70",
                              "linear | f32[T,40] f32[40,33]:(1,40)! f32[33]! -> f32[T,33]:(50,1) where T in 1..40",
                              "linear | f64[3,40] f64[40,9] f64[9] -> f64[3,9]"}));
    kernels.push_back(kernel(
        needs, "matmul", accepts_matmul, table.eigen_matmul,
        {"matmul | f32[T,300] f32[300,200]! -> f32[T,200] where T in 0..300",
         "matmul | f32[1,K] f32[K,257]:(1,K)! -> f32[1,257] where K in 0..600",
         "matmul | f32[2,3,T,16]:(16*T*9,16,48,1) f32[2,3,16,T]:(16*T*9,16,1,48) -> f32[2,3,T,T] where T in 1..33",
         "matmul | f32[4,T,32] f32[4,32,48]:(0,48,1) -> f32[4,T,48] where T in 1..50",
         "matmul | f64[T,65]:(1,T) f64[65,33] -> f64[T,33] where T in 1..300",
         "matmul | f64[5,9]:(1,5) f64[9,1] -> f64[5,1]"}));
}

}  // namespace cairn::inline v0::kernels::cpu
