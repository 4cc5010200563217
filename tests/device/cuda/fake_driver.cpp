// A library with the functions of the CUDA driver. Those that are called while a driver is opened return what
// `cairn_fake_driver` says, the others return success. Environment variables say what it begins with.
#include "tests/device/cuda/fake_driver.hpp"

#include "device/cuda/driver_table.hpp"

#include <cstdlib>

using namespace cairn::device::cuda;

namespace {

int variable(const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

extern "C" {

FakeDriver cairn_fake_driver = {static_cast<unsigned>(variable("CAIRN_FAKE_INIT_RESULT", 0)),
                                0,
                                variable("CAIRN_FAKE_VERSION", 13000),
                                0,
                                variable("CAIRN_FAKE_DEVICES", 1),
                                0};

Result cuInit(unsigned) {
    ++cairn_fake_driver.calls;
    return static_cast<Result>(cairn_fake_driver.init_result);
}
Result cuDriverGetVersion(int* version) {
    *version = cairn_fake_driver.version;
    return static_cast<Result>(cairn_fake_driver.version_result);
}
Result cuDeviceGetCount(int* count) {
    *count = cairn_fake_driver.devices;
    return static_cast<Result>(cairn_fake_driver.count_result);
}
Result cuGetErrorName(Result, const char** name) {
    *name = "CUDA_ERROR_OF_THE_FAKE";
    return Result::success;
}
Result cuGetErrorString(Result, const char** text) {
    *text = "the fake fails";
    return Result::success;
}

#define CAIRN_CUDA_DEFINE(symbol, member, parameters) \
    Result symbol parameters { return Result::success; }
CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_CUDA_DEFINE)
}
