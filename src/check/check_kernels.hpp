#pragma once

#include "cairn/check.hpp"

#include <span>
#include <vector>

namespace cairn::inline v0::check {

struct KernelToCheck {
    Kernel kernel;
    CheckOptions options;
};

/// Tries each as check_kernel does. What is right for a Problem that several of them are tried on is worked out once,
/// so kernels of the same samples are best tried together. A report for each.
std::vector<KernelReport> check_kernels(std::span<const KernelToCheck> kernels,
                                        std::span<const Definition> definitions);

}  // namespace cairn::inline v0::check
