#pragma once

#include "kernels/cpu/level.hpp"

/// The function table of levels that have products of integers alone: those of VNNI.
// clang-format off
#define CAIRN_INTEGER_TABLE(ROW) \
    ROW(panel_i8_linear)         \
    ROW(panel_i16_linear)
// clang-format on

namespace cairn::kernels::cpu {

struct IntegerTable {
    CAIRN_INTEGER_TABLE(CAIRN_FIELD)
};

}  // namespace cairn::kernels::cpu

extern const cairn::kernels::cpu::IntegerTable cairn_table_avx512_vnni;

#if defined(CAIRN_ISA)
namespace CAIRN_LEVEL {
CAIRN_INTEGER_TABLE(CAIRN_DECLARE)
}  // namespace CAIRN_LEVEL
#endif
