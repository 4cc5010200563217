#include "kernels/cpu/panel/bf16_table.hpp"

extern const cairn::kernels::cpu::Bf16Table CAIRN_TABLE_OF(CAIRN_ISA);
constinit const cairn::kernels::cpu::Bf16Table CAIRN_TABLE_OF(CAIRN_ISA) = {CAIRN_BF16_TABLE(CAIRN_TABLE_ENTRY)};
