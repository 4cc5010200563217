#pragma once

#include "cairn/context.hpp"
#include "runtime/program_set.hpp"

#include <span>
#include <stop_token>

namespace cairn::driver {

/// Checks the caller's own kernels (ContextOptions::extra) in these programs against their definitions, on the Problems
/// they are called with: with their strides, dtypes and sizes, at several values of the symbols. Symbolic sizes are
/// reduced until a comparison takes about one second. Throws Error(argument) naming the kernel, the Problem and the
/// difference. Logs a line for each Problem that cannot be checked: one with a packed layout unknown here, one whose
/// definition refuses generated operands, and one that is too large.
void verify_own_kernels(std::span<const runtime::BucketProgram> programs, const Context& context,
                        const std::stop_token& stop);

}  // namespace cairn::driver
