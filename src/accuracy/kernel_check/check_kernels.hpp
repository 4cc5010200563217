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

/// Checks each kernel as check_kernel does, with one report for each. The correct results for a Problem are computed
/// once for all of them, so kernels with the same samples are best checked together.
std::vector<KernelReport> check_kernels(std::span<const KernelToCheck> kernels,
                                        std::span<const Definition> definitions);

/// A Problem with which a program calls a kernel, and values of its symbols, in the order of Symbols::list().
struct ProblemCall {
    const Problem& problem;
    std::vector<std::vector<std::int64_t>> sizes;
};

/// Checks a kernel, as check_kernel does, on Problems as they are: with their own strides, dtypes and sizes.
KernelReport check_calls(const KernelToCheck& kernel, std::span<const ProblemCall> calls,
                         std::span<const Definition> definitions);

}  // namespace cairn::kernel_check
