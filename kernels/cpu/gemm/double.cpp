#include "kernels/cpu/gemm/product.hpp"
#include "kernels/cpu/gemm/table.hpp"

/// Products of f64.
namespace CAIRN_LEVEL {

void gemm_double(const Args& args, Team& team) { multiply_matrices<double>(args, team); }

}  // namespace CAIRN_LEVEL
