#include "device/cuda/driver_release.hpp"

#include "tests/device/cpu/own_files.hpp"

#include <gtest/gtest.h>

namespace cairn::device::cuda {
namespace {

class DriverReleases : public OwnFiles {};

TEST_F(DriverReleases, AreReadFromTheTextOfTheKernelModule) {
    write("/open",
          "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build  (dvs-builder)\n"
          "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n");
    EXPECT_EQ(driver_release(root_ / "open"), "580.82.07");
    write("/closed", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104  Sat Aug 19 01:15:15 UTC 2023\n");
    EXPECT_EQ(driver_release(root_ / "closed"), "535.104");
}

TEST_F(DriverReleases, AreEmptyIfUnknown) {
    EXPECT_EQ(driver_release(root_ / "absent"), "");
    write("/other", "x86_64 580 .5 5. 5..5 5.x\n");
    EXPECT_EQ(driver_release(root_ / "other"), "");
}

}  // namespace
}  // namespace cairn::device::cuda
