#pragma once

#include "runtime/program_set.hpp"

#include <string>

namespace cairn::runtime {

/// Verifies the programs of a set against each other: returns the first fault in words, empty if there is none. Every
/// size has a bucket and is within its program's bounds, all programs have the set's inputs, the same outputs and
/// states, and agree on what they share by name. Requires programs that pass program::verify.
std::string verify_set(const ProgramSet& set);

}  // namespace cairn::runtime
