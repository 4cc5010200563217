#pragma once

#include <cstddef>
#include <string>

namespace cairn::device {

/// A kernel for one Problem as text in the language of the device, and how it is launched; the grid follows from the
/// sizes (KernelLaunch::grid). The parameters of the entry are the data of all operands, inputs first (`void*` each),
/// then `void* workspace`, `const long long* symbols` (values of the program's symbols, in device memory),
/// `FailureRecord* status` and `int instruction`.
struct DeviceCode {
    std::string text;
    std::string entry;             ///< symbol of the kernel, declared `extern "C"`
    int block = 256;               ///< threads of a block
    int cluster = 1;               ///< blocks of a cluster, along the first axis
    std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// Why a kernel with code could not compute with its data: FailureRecord::code.
enum class FailureCode : int { index_out_of_range = 1 };

/// What kernels with code report, as they see it. The first thread that fails claims the record by replacing
/// `instruction`, -1 before, with its own parameter `instruction` (compare and swap), then writes the rest.
struct FailureRecord {
    int instruction = -1;
    int code = 0;
    int input = -1;  ///< of the instruction; -1: unknown
    int padding = 0;
    long long position = 0, value = 0;
};
static_assert(sizeof(FailureRecord) == 32);

}  // namespace cairn::device
