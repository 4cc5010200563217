#pragma once

#include "tests/house/tree.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cairn::house {

// Rules for built objects. Each checks the output of a binutils command for the object at `path`.

/// `nm -P -g --defined-only`: the object exports `table` and nothing else; no symbol is weak or GNU-unique. The linker
/// could choose a weak symbol compiled for one instruction set for the whole program.
Faults unexpected_exports(const std::string& path, std::string_view nm, std::string_view table);

/// `readelf -gW`: the object has no COMDAT group. The linker would keep the copy of one ISA level only.
Faults comdat_groups(const std::string& path, std::string_view readelf);

/// `readelf -SW`: the object has no static initialisers, which would run before the CPU features are checked.
Faults initialisers(const std::string& path, std::string_view readelf);

/// `objdump -d --no-show-raw-insn`: instructions with VEX or EVEX encoding (AVX, FMA, F16C, BMI, AVX-512).
Faults vex_code(const std::string& path, std::string_view disassembly);

/// `objdump -d --no-show-raw-insn`: instructions and registers that the level `baseline`, `avx2` or `avx512` does not
/// include: wider vectors, vector registers 16 to 31, mask registers, and other extensions.
Faults code_above_level(const std::string& path, std::string_view disassembly, std::string_view level);

/// `objdump -t`: writable variables, except function-local constants that are initialised on first use. The library has
/// no mutable globals. Variables initialised with an address are not detected, because constant tables of addresses are
/// in the same section.
Faults mutable_globals(const std::string& path, std::string_view symbols);

/// `nm -P -D --defined-only`: all symbols that a shared library exports must be in the version namespace cairn::v0.
Faults foreign_exports(const std::string& path, std::string_view nm);

/// Standard output of `command`. Throws std::runtime_error if it fails.
std::string output_of(const std::string& command);

}  // namespace cairn::house
