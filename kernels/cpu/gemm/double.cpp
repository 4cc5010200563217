#include "kernels/cpu/gemm/im2col_conv.hpp"
#include "kernels/cpu/gemm/macro_kernel.hpp"
#include "kernels/cpu/gemm/table.hpp"

/// Products and convolutions of f64.
namespace CAIRN_LEVEL {

void gemm_double(const Args& args, Team& team) { multiply_matrices<double>(args, team); }
void windows_double(const Args& args, Team& team) { im2col_convolution<double>(args, team); }

}  // namespace CAIRN_LEVEL
