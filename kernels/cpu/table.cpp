#include "kernels/cpu/table.hpp"

// The one symbol that this level's merged object shows. Constant-initialised: no code of the level runs before it is
// chosen.
#define CAIRN_JOIN(a, b) a##b
#define CAIRN_TABLE_OF(level) CAIRN_JOIN(cairn_table_, level)

extern const cairn::kernels::cpu::CpuTable CAIRN_TABLE_OF(CAIRN_ISA);
constinit const cairn::kernels::cpu::CpuTable CAIRN_TABLE_OF(CAIRN_ISA) = {
#define CAIRN_ENTRY(name) cairn::kernels::cpu::CAIRN_ISA::name,
    CAIRN_CPU_TABLE(CAIRN_ENTRY)
#undef CAIRN_ENTRY
};
