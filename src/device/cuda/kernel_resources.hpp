#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::device::cuda {

/// What one kernel occupies, as the assembler ptxas reports it.
struct KernelResources {
    std::string entry;                   ///< symbol of the kernel
    std::int64_t registers = 0;          ///< of each thread
    std::int64_t stack_bytes = 0;        ///< of each thread, with those of the functions it calls if known
    std::int64_t spill_store_bytes = 0;  ///< stores of spilled registers, with those of the functions it calls
    std::int64_t spill_load_bytes = 0;
    std::int64_t shared_bytes = 0;  ///< static, of each block
    std::int64_t barriers = 0;
};

/// The kernels of a log that was written with `--ptxas-options=-v`, in its order:
///
///     ptxas info    : Compiling entry function 'add' for 'sm_90a'
///     ptxas info    : Function properties for add
///     ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
///     ptxas info    : Used 10 registers, used 1 barriers, 256 bytes smem
///
/// Other lines are ignored. A function that is not inlined has properties of its own, after those of its kernel.
std::vector<KernelResources> kernel_resources(std::string_view log);

}  // namespace cairn::device::cuda
