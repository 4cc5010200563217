#pragma once

#include "kernels/cpu/eigen/table.hpp"
#include "kernels/cpu/gemm/table.hpp"
#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/simd/table.hpp"

/// The function tables of all kernel families for one ISA level.
namespace cairn::kernels::cpu {

struct CpuTable {
    EigenTable eigen;
    GemmTable gemm;
    PanelTable panel;
    SimdTable simd;
};

}  // namespace cairn::kernels::cpu

extern const cairn::kernels::cpu::CpuTable cairn_table_baseline;
extern const cairn::kernels::cpu::CpuTable cairn_table_avx2;
extern const cairn::kernels::cpu::CpuTable cairn_table_avx512;
