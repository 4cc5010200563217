#pragma once

#include "cairn/check.hpp"
#include "device/context_impl.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::kernel_check {

struct KernelToCheck {
    Kernel kernel;
    CheckOptions options;
    device::Backend* backend = nullptr;      ///< of a kernel that is no function (Kernel::run): the device that runs it
    device::HostThreads* threads = nullptr;  ///< that may compile its code; null: the caller's alone
};

/// The device of a Context that runs a kernel; null if the kernel is a function, which is checked on the CPU. Throws
/// Error(unsupported) if the Context has not opened the device.
device::Backend* backend_of(const Kernel& kernel, const Context::Impl& context);

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
