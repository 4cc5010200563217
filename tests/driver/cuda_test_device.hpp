#pragma once

#if defined(CAIRN_REAL_GPU)
#include "tests/driver/real_device.hpp"
#else
#include "tests/driver/emulated_device.hpp"
#endif

namespace cairn::test {

/// The CUDA device of tests that are also part of gpu_test: there a GPU, elsewhere the emulated device.
#if defined(CAIRN_REAL_GPU)
using TestDevice = RealDevice;
#else
using TestDevice = EmulatedDevice;
#endif

}  // namespace cairn::test
