#pragma once

#include "cairn/context.hpp"
#include "runtime/program_set.hpp"

#include <span>
#include <stop_token>

namespace cairn::driver {

/// Runs each kernel of the caller's own (ContextOptions::extra) that these programs call against its definition, on the
/// Problems that they call it with: their strides, dtypes and sizes, symbols at several of their values. Throws
/// Error(argument) naming the kernel, the Problem and what differs. Sizes are made smaller, as far as they are symbols,
/// until a comparison takes a second or so. What cannot be checked has a log line each: a Problem with a packed form
/// that is not known here, one whose definition refuses made-up operands, and one that is too large.
void verify_own_kernels(std::span<const runtime::BucketProgram> programs, const Context& context,
                        const std::stop_token& stop);

}  // namespace cairn::driver
