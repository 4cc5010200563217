#pragma once

#include "kernels/cpu/level.hpp"

/// The function table of levels that have products in bf16 parts alone: those of AMX.
// clang-format off
#define CAIRN_BF16_TABLE(ROW) \
    ROW(panel_bf16x6_linear)    \
    ROW(panel_bf16x3_linear)    \
    ROW(panel_bf16_linear)
// clang-format on

namespace cairn::kernels::cpu {

struct Bf16Table {
    CAIRN_BF16_TABLE(CAIRN_FIELD)
};

}  // namespace cairn::kernels::cpu

extern const cairn::kernels::cpu::Bf16Table cairn_table_amx_bf16;

#if defined(CAIRN_ISA)
namespace CAIRN_LEVEL {
CAIRN_BF16_TABLE(CAIRN_DECLARE)
}  // namespace CAIRN_LEVEL
#endif
