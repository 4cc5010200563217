#include "kernels/cpu/gemm/product.hpp"
#include "kernels/cpu/gemm/table.hpp"

/// Products of f32, f16 and bf16, summed in f32.
namespace CAIRN_LEVEL {

void gemm_float(const Args& args, Team& team) { multiply_matrices<float>(args, team); }

}  // namespace CAIRN_LEVEL
