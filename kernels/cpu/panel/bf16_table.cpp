#include "kernels/cpu/panel/bf16_table.hpp"

// The only exported symbol of this level's merged object, constant-initialised.
#define CAIRN_JOIN(a, b) a##b
#define CAIRN_TABLE_OF(level) CAIRN_JOIN(cairn_table_, level)
#define CAIRN_ENTRY(name) cairn::kernels::cpu::CAIRN_ISA::name,

extern const cairn::kernels::cpu::Bf16Table CAIRN_TABLE_OF(CAIRN_ISA);
constinit const cairn::kernels::cpu::Bf16Table CAIRN_TABLE_OF(CAIRN_ISA) = {CAIRN_BF16_TABLE(CAIRN_ENTRY)};
