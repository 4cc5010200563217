#include "graph/types/per_device.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::types {
namespace {

TEST(PerDevice, KeepsAValueOfEachDeviceInTheirOrder) {
    PerDevice<int> values;
    EXPECT_EQ(values.find(Device::cpu), nullptr);
    EXPECT_EQ(values.value_of(Device::cuda(3)), 0);
    values[Device::cuda(3)] = 3;
    values[Device::cpu] = 7;
    values[Device::cuda(1)] = 1;
    values[Device::cuda(3)] += 10;
    EXPECT_EQ(values.size(), 3U);
    EXPECT_EQ(*values.find(Device::cuda(3)), 13);
    EXPECT_EQ(values.find(Device::cuda(2)), nullptr);
    std::vector<Device> devices;
    for (auto& [device, value] : values) devices.push_back(device), value = -value;
    EXPECT_EQ(devices, (std::vector{Device::cpu, Device::cuda(1), Device::cuda(3)}));
    EXPECT_EQ(values.value_of(Device::cpu), -7);
}

}  // namespace
}  // namespace cairn::types
