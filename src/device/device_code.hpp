#pragma once

#include <cstddef>
#include <string>

namespace cairn::device {

/// A kernel for one Problem as text in the language of the device, and how it is launched; the grid follows from the
/// sizes (KernelLaunch::grid). The parameters of the entry are the data of all operands, inputs first (`void*` each),
/// then `void* workspace`, `const long long* symbols` (values of the program's symbols, in device memory),
/// `FailureReport* status` and `unsigned instruction`.
struct DeviceCode {
    std::string text;
    std::string entry;             ///< symbol of the kernel, declared `extern "C"`
    int block = 256;               ///< threads of a block
    int cluster = 1;               ///< blocks of a cluster, along the first axis
    std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
    std::string label = {};        ///< kernel and Problem, for messages; may be empty
    /// Kernel::waits_for_dependencies, of a kernel that has a block at all sizes.
    bool waits_for_dependencies = false;
};

/// Why a kernel with code could not compute with its data: FailureReport::code.
enum class FailureCode : unsigned { index_out_of_range = 1 };

/// What kernels with code report: the FailureReport of kernels/cuda/text/prelude.cuh. All zero before a run. The first
/// thread that fails claims it by replacing `code`, 0 before (compare and swap), then writes the rest.
struct FailureReport {
    unsigned code = 0;  ///< a FailureCode; 0: none
    unsigned instruction = 0;
    unsigned input = 0;  ///< of the instruction
    unsigned unused = 0;
    long long position = 0, value = 0;
};
static_assert(sizeof(FailureReport) == 32);

}  // namespace cairn::device
