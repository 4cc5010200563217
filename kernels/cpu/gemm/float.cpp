#include "kernels/cpu/gemm/im2col_conv.hpp"
#include "kernels/cpu/gemm/macro_kernel.hpp"
#include "kernels/cpu/gemm/table.hpp"
#include "kernels/cpu/matmul_operands.hpp"

/// Products and convolutions of f32, f16 and bf16, summed in f32; and the argmax over the columns of each row of a
/// product.
namespace CAIRN_LEVEL {

void gemm_float(const Args& args, Team& team) { multiply_matrices<float>(args, team); }

void windows_float(const Args& args, Team& team) { im2col_convolution<float>(args, team); }

void gemm_argmax(const Args& args, Team& team) {
    const auto& plan = *static_cast<const GemmPlan*>(args.prepared);
    const TensorArg &x = args.inputs[0], &w = args.inputs[1];
    // Describes the product, which is not stored.
    const std::int64_t shape[] = {rows_of(x).count, w.shape[1]}, strides[] = {w.shape[1], 1};
    const std::int64_t x_shape[] = {shape[0], x.shape[x.rank - 1]}, x_strides[] = {rows_of(x).stride, 1};
    const TensorArg matrix{x.data, x_shape, x_strides, 2}, product{nullptr, shape, strides, 2};
    ProductArgMax largest(shape[0], plan.is_biased ? reinterpret_cast<const float*>(args.inputs[2].data) : nullptr,
                          args.workspace + GemmBlocks::bytes * team.size(), team.rank());
    run_tasks(GemmTasks<float>(matrix, w, product, plan.dtype, team, &largest), args.workspace, team);
    team.barrier();
    largest.write(args.outputs[0], team.size());
}

}  // namespace CAIRN_LEVEL
