#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/reduction/cumsum_plan.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <memory>
#include <string>

/// Registers cumsum for all numeric dtypes, along any axis with any strides.
namespace cairn::kernels::cpu {
namespace {

Refusal accepts(const Problem& problem) {
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (Refusal no = needs_plain(problem, max_reduce_rank); !no.empty()) return no;
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    if (x.dtype == DType::boolean) return "needs numbers";
    if (x.dtype != out.dtype || x.shape != out.shape) return "needs one dtype and shape";
    return x.shape.empty() ? "needs an axis" : Refusal();
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    const TensorDesc& x = problem.inputs[0];
    return std::make_shared<CumsumPlan>(
        CumsumPlan{axis_index(problem.attributes.integer("axis"), x.shape.size()), x.dtype});
}

}  // namespace

void add_cumsum(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table) {
    Kernel made;
    made.id = "cpu." + std::string(isa_level_name(needs)) + ".cumsum@2";
    made.definition = "cumsum";
    made.needs = needs;
    made.accepts = accepts;
    made.run = table.cumsum;
    made.prepare = prepare;
    made.in_place = {{0, 0}};
    made.cost = [](const Problem& problem) {
        const double elements = static_cast<double>(element_count(problem.inputs[0].shape).constant());
        return Cost{2 * elements, bytes_of(problem), 0.25};
    };
    // Coverage: whole and partial squares of rows and of columns; strips of columns; one line, and few.
    made.samples = {"cumsum axis=(-1) | f32[R,N] -> f32[R,N] where R in 0..40, N in 0..300",
                    "cumsum axis=(-2) | f32[2,N,W] -> f32[2,N,W] where N in 1..40, W in 1..700",
                    "cumsum axis=(-3) | f64[4,5,6]:(60,6,1) -> f64[4,5,6]",
                    "cumsum axis=(-1) | u8[N]:(3) -> u8[N] where N in 1..1500",
                    "cumsum axis=(-2) | bf16[9,N]:(0,1) -> bf16[9,N]:(1,9) where N in 1..40"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
