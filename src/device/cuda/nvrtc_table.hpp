#pragma once

#include "device/cuda/shared_library.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace cairn::device::cuda {

/// Handle of a program that NVRTC compiles: a pointer to a structure that only NVRTC knows.
using NvrtcProgram = struct NvrtcProgramObject*;

/// Result of a call of NVRTC, as in nvrtc.h. Other values than these are possible.
enum class NvrtcResult : unsigned {
    success = 0,
    out_of_memory = 1,
    invalid_input = 3,
    invalid_option = 5,
    compilation = 6,                ///< an error in the text, or in what the assembler makes of it
    builtin_operation_failure = 7,  ///< the library of built-in functions is missing
    internal_error = 11,
};

/// The functions of NVRTC. A row is X(exported symbol, member of NvrtcTable, parameters).
// clang-format off
#define CAIRN_CUDA_NVRTC_FUNCTIONS(X) \
    X(nvrtcVersion, version, (int* major, int* minor)) \
    X(nvrtcCreateProgram, create, \
      (NvrtcProgram* program, const char* text, const char* name, int header_count, const char* const* headers, \
       const char* const* header_names)) \
    X(nvrtcCompileProgram, compile, (NvrtcProgram program, int count, const char* const* options)) \
    X(nvrtcDestroyProgram, destroy, (NvrtcProgram* program)) \
    X(nvrtcGetProgramLogSize, log_size, (NvrtcProgram program, std::size_t* bytes)) \
    X(nvrtcGetProgramLog, log, (NvrtcProgram program, char* log)) \
    X(nvrtcGetCUBINSize, cubin_size, (NvrtcProgram program, std::size_t* bytes)) \
    X(nvrtcGetCUBIN, cubin, (NvrtcProgram program, char* cubin))
// clang-format on

/// Functions of NVRTC, by address. Tests make tables of their own functions.
struct NvrtcTable {
#define CAIRN_CUDA_MEMBER(symbol, member, parameters) NvrtcResult(*member) parameters = nullptr;
    CAIRN_CUDA_NVRTC_FUNCTIONS(CAIRN_CUDA_MEMBER)
#undef CAIRN_CUDA_MEMBER
    const char* (*error_name)(NvrtcResult result) = nullptr;  ///< nvrtcGetErrorString
};

/// NVRTC, or the reason why there is none.
struct OpenedNvrtc {
    std::shared_ptr<const NvrtcTable> nvrtc;  ///< null: not usable
    std::string reason;                       ///< one sentence without its end
};

/// Opens `libnvrtc.so.13` and its library of built-in functions. NVRTC opens the latter when it compiles, by its name
/// alone; unless it is on the loader's path, that only succeeds if the process has opened it before by its path. Both
/// stay loaded until the process ends. Never throws, except for lack of memory.
OpenedNvrtc open_nvrtc(const LibraryFolders& folders);

}  // namespace cairn::device::cuda
