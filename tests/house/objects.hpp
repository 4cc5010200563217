#pragma once

#include "tests/house/tree.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cairn::house {

// Rules for built objects. Each reads what a tool of binutils printed about the object at `path`.

/// `nm -P -g --defined-only`: the object exports `table` and nothing else; no symbol is weak or GNU-unique. A weak one
/// compiled for one instruction set could be picked by the linker for everybody.
Faults exports_besides(const std::string& path, std::string_view nm, std::string_view table);

/// `readelf -gW`: the object has no COMDAT group, of which the linker would keep one level's copy only.
Faults comdat_groups(const std::string& path, std::string_view readelf);

/// `readelf -SW`: nothing of the object runs when the program starts, before anybody asked what the CPU can do.
Faults initialisers(const std::string& path, std::string_view readelf);

/// `objdump -d --no-show-raw-insn`: instructions with VEX or EVEX encoding (AVX, FMA, F16C, BMI, AVX-512).
Faults vex_code(const std::string& path, std::string_view disassembly);

/// `objdump -d --no-show-raw-insn`: instructions and registers that the level `baseline`, `avx2` or `avx512` does not
/// promise: wider vectors, more of them, masks, and the extensions that compilers use when told of them.
Faults code_beyond(const std::string& path, std::string_view disassembly, std::string_view level);

/// `objdump -t`: variables that can be written, function-local constants made on first use excepted. The library has no
/// mutable globals. Not seen: variables that start out holding an address, since constant tables of such stand beside
/// them.
Faults mutable_globals(const std::string& path, std::string_view symbols);

/// `nm -P -D --defined-only`: what a shared library exports must carry the version namespace cairn::v0.
Faults foreign_exports(const std::string& path, std::string_view nm);

/// What `command` prints; throws std::runtime_error if it fails.
std::string output_of(const std::string& command);

}  // namespace cairn::house
