#pragma once

#include "cairn/check.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::kernel_check {

struct KernelToCheck {
    Kernel kernel;
    CheckOptions options;
};

/// Tries each as check_kernel does. What is right for a Problem that several of them are tried on is worked out once,
/// so kernels of the same samples are best tried together. A report for each.
std::vector<KernelReport> check_kernels(std::span<const KernelToCheck> kernels,
                                        std::span<const Definition> definitions);

/// A Problem as a program calls a kernel with it, and values of its symbols, in the order of Symbols::list().
struct ProblemCall {
    const Problem& problem;
    std::vector<std::vector<std::int64_t>> sizes;
};

/// Tries a kernel, as check_kernel does, on Problems as they stand: their own strides, dtypes and sizes.
KernelReport check_calls(const KernelToCheck& kernel, std::span<const ProblemCall> calls,
                         std::span<const Definition> definitions);

}  // namespace cairn::kernel_check
