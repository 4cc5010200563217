#include "kernels/cpu/table.hpp"

// Constant-initialised: no code of the level runs before the level is selected.
extern const cairn::kernels::cpu::CpuTable CAIRN_TABLE_OF(CAIRN_ISA);
constinit const cairn::kernels::cpu::CpuTable CAIRN_TABLE_OF(CAIRN_ISA) = {
    {CAIRN_EIGEN_TABLE(CAIRN_TABLE_ENTRY)},
    {CAIRN_GEMM_TABLE(CAIRN_TABLE_ENTRY)},
    {CAIRN_PANEL_TABLE(CAIRN_TABLE_ENTRY)},
    {CAIRN_SIMD_TABLE(CAIRN_TABLE_ENTRY)},
};
