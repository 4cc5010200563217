#include "kernels/cpu/panel/integer_table.hpp"

// The only exported symbol of this level's merged object, constant-initialised.
#define CAIRN_JOIN(a, b) a##b
#define CAIRN_TABLE_OF(level) CAIRN_JOIN(cairn_table_, level)
#define CAIRN_ENTRY(name) cairn::kernels::cpu::CAIRN_ISA::name,

extern const cairn::kernels::cpu::IntegerTable CAIRN_TABLE_OF(CAIRN_ISA);
constinit const cairn::kernels::cpu::IntegerTable CAIRN_TABLE_OF(CAIRN_ISA) = {CAIRN_INTEGER_TABLE(CAIRN_ENTRY)};
