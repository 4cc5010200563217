#include "kernels/cpu/gemm/product.hpp"
#include "kernels/cpu/gemm/table.hpp"
#include "kernels/cpu/gemm/windows.hpp"

/// Products and convolutions of f64.
namespace CAIRN_LEVEL {

void gemm_double(const Args& args, Team& team) { multiply_matrices<double>(args, team); }
void windows_double(const Args& args, Team& team) { convolve_windows<double>(args, team); }

}  // namespace CAIRN_LEVEL
