#pragma once

#include "cairn/kernel.hpp"

/// Declarations shared by the files that are compiled once per ISA level. A function of a level is reached only through
/// its family's table (<family>/table.hpp), so code of a higher level cannot be called or linked by accident. The
/// function gets everything it needs from Args (the prepared struct is plain data, defined in a small header); it never
/// throws and never allocates.
namespace cairn::kernels::cpu {

using Run = void (*)(const Args& args, Team& team);

}  // namespace cairn::kernels::cpu

/// For one entry of a family's table: the field, and the declaration of the level's function.
#define CAIRN_FIELD(name) cairn::kernels::cpu::Run name;
#define CAIRN_DECLARE(name) void name(const Args& args, Team& team);

/// The namespace of the level, in files compiled per level. CAIRN_ISA is the level as a bare identifier.
#if defined(CAIRN_ISA)
#define CAIRN_LEVEL cairn::kernels::cpu::CAIRN_ISA

/// In the file that defines the level's table, the only exported symbol of its merged object: the symbol, and the
/// level's function for one entry.
#define CAIRN_JOIN(a, b) a##b
#define CAIRN_TABLE_OF(level) CAIRN_JOIN(cairn_table_, level)
#define CAIRN_TABLE_ENTRY(name) CAIRN_LEVEL::name,
#endif
