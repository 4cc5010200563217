#pragma once

#include "runtime/program_set.hpp"

#include <string>

namespace cairn::runtime {

/// The first thing that does not fit between the programs of a set, in words; empty when all is well: every size has a
/// bucket and lies within its program's bounds, all programs have the set's inputs, the same outputs and states, and
/// agree on what they share by name. Asks for programs that pass program::verify.
std::string verify_set(const ProgramSet& set);

}  // namespace cairn::runtime
