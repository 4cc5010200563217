#include "program/program.hpp"

#include <algorithm>

namespace cairn::program {

std::vector<Device> devices_of(const Program& program) {
    std::vector<Device> devices{Device::cpu};
    for (const Buffer& buffer : program.buffers)
        if (std::find(devices.begin(), devices.end(), buffer.device) == devices.end()) devices.push_back(buffer.device);
    std::sort(devices.begin(), devices.end());
    return devices;
}

}  // namespace cairn::program
