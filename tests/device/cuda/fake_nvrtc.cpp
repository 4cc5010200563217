// A library with the functions of NVRTC, of a version whose built-in functions do not exist anywhere.
#include "device/cuda/nvrtc_table.hpp"

using namespace cairn::device::cuda;

extern "C" {

NvrtcResult nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 777;
    return NvrtcResult::success;
}
const char* nvrtcGetErrorString(NvrtcResult) { return "NVRTC_ERROR_OF_THE_FAKE"; }
NvrtcResult nvrtcCreateProgram(NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*) {
    return NvrtcResult::internal_error;
}
NvrtcResult nvrtcCompileProgram(NvrtcProgram, int, const char* const*) { return NvrtcResult::internal_error; }
NvrtcResult nvrtcDestroyProgram(NvrtcProgram*) { return NvrtcResult::internal_error; }
NvrtcResult nvrtcGetProgramLogSize(NvrtcProgram, std::size_t*) { return NvrtcResult::internal_error; }
NvrtcResult nvrtcGetProgramLog(NvrtcProgram, char*) { return NvrtcResult::internal_error; }
NvrtcResult nvrtcGetCUBINSize(NvrtcProgram, std::size_t*) { return NvrtcResult::internal_error; }
NvrtcResult nvrtcGetCUBIN(NvrtcProgram, char*) { return NvrtcResult::internal_error; }
}
