#include "kernels/cpu/table.hpp"

// The only exported symbol of this level's merged object. Constant-initialised: no code of the level runs before the
// level is selected.
#define CAIRN_JOIN(a, b) a##b
#define CAIRN_TABLE_OF(level) CAIRN_JOIN(cairn_table_, level)
#define CAIRN_ENTRY(name) cairn::kernels::cpu::CAIRN_ISA::name,

extern const cairn::kernels::cpu::CpuTable CAIRN_TABLE_OF(CAIRN_ISA);
constinit const cairn::kernels::cpu::CpuTable CAIRN_TABLE_OF(CAIRN_ISA) = {
    {CAIRN_EIGEN_TABLE(CAIRN_ENTRY)},
    {CAIRN_GEMM_TABLE(CAIRN_ENTRY)},
    {CAIRN_PANEL_TABLE(CAIRN_ENTRY)},
    {CAIRN_SIMD_TABLE(CAIRN_ENTRY)},
};
