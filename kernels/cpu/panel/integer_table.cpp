#include "kernels/cpu/panel/integer_table.hpp"

extern const cairn::kernels::cpu::IntegerTable CAIRN_TABLE_OF(CAIRN_ISA);
constinit const cairn::kernels::cpu::IntegerTable CAIRN_TABLE_OF(CAIRN_ISA) = {CAIRN_INTEGER_TABLE(CAIRN_TABLE_ENTRY)};
