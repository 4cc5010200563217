#pragma once

#include "cairn/kernel.hpp"
#include "device/backend.hpp"
#include "device/device_code.hpp"

#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace cairn::device {

/// True for a kernel that is neither a function nor code: a copy between the host and a device
/// (KernelLaunch::copy_bytes).
inline bool is_host_copy(const Kernel& kernel) noexcept {
    return kernel.run == nullptr && !kernel.code && !kernel.enqueue;
}

/// A kernel with code that is to be compiled for a Problem, whose sizes may have symbols.
struct KernelToCompile {
    const Kernel* kernel;
    const Problem* problem;
};

/// A kernel's code for one Problem, or why there is none.
struct CompiledKernel {
    std::shared_ptr<const void> code;  ///< of Backend::compile; null: see `fault`
    std::vector<Dim> grid;             ///< blocks along each axis
    std::exception_ptr fault;          ///< what the kernel threw, or the Error of a text that does not compile
};

/// The text of a kernel's code for a Problem, labelled with both.
DeviceCode text_of(const Kernel& kernel, const Problem& problem, KernelCode code);

/// Compiles kernels together. If that fails, each text is compiled alone, so that one that does not compile has its own
/// log and leaves the others unaffected. Throws what Backend::compile throws if no text is at fault: the compiler is
/// missing, the device is lost or out of memory. `threads` as in CompileRequest.
std::vector<CompiledKernel> compile_kernels(std::span<const KernelToCompile> kernels, Backend& backend,
                                            HostThreads* threads = nullptr);

}  // namespace cairn::device
