#pragma once

#include "program/program.hpp"

#include <string>

namespace cairn::program {

/// Verifies the sizes of a program: returns the first one not proved correct for every legal symbol value, in words;
/// empty if all are. No size is negative, buffers have the bytes of their description, every view ends within its
/// buffer, and storages are as large as their buffers. The size of layouts is unknown here: of views in them only the
/// beginning is checked. Requires indices in range.
std::string verify_sizes(const Program& program);

}  // namespace cairn::program
