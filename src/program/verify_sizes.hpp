#pragma once

#include "program/program.hpp"

#include <string>

namespace cairn::program {

/// The first size of a program that is not proved right for every legal symbol value, in words; empty when all are: no
/// size is negative, buffers hold what they say, every view ends within its buffer, storages are as large as what lies
/// in them. What a packed layout takes is not known here: of its views only the beginning is checked. Asks for indices
/// in range.
std::string verify_sizes(const Program& program);

}  // namespace cairn::program
