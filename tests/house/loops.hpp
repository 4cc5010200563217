#pragma once

#include "tests/house/tree.hpp"

#include <span>
#include <string>
#include <string_view>

namespace cairn::house {

/// `objdump -dC --no-show-raw-insn`: innermost loops with two multiply-adds or more, of the functions whose names hold
/// one of `tiles` followed by `<`, that read or write vector registers on the stack: accumulators that the compiler
/// keeps in memory cost up to half of the speed. `seen` counts the loops that were looked at.
Faults spilled_loops(const std::string& path, std::string_view disassembly, std::span<const std::string_view> tiles,
                     int& seen);

}  // namespace cairn::house
