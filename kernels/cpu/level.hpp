#pragma once

#include "cairn/kernel.hpp"

/// What files compiled once for each level have in common. A function of a level is reached through its family's table
/// (<family>/table.hpp) and by no other name, so code of a higher level can never be called, or linked, by accident. It
/// gets all it needs to know about the Problem from Args (a prepared struct is plain data, defined in a small header);
/// it never throws and never allocates.
namespace cairn::kernels::cpu {

using Run = void (*)(const Args& args, Team& team);

}  // namespace cairn::kernels::cpu

/// Of a row of a family's table: the field, and the function of the level that goes there.
#define CAIRN_FIELD(name) cairn::kernels::cpu::Run name;
#define CAIRN_DECLARE(name) void name(const Args& args, Team& team);

/// In files compiled per level: the level's namespace. CAIRN_ISA is the level as a bare word.
#if defined(CAIRN_ISA)
#define CAIRN_LEVEL cairn::kernels::cpu::CAIRN_ISA
#endif
