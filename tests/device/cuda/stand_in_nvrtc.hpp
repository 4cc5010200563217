#pragma once

#include "device/cuda/nvrtc.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cairn::device::cuda {

/// An NVRTC that takes any text, unless it contains `#error`. At most one exists at a time.
class StandInNvrtc {
public:
    StandInNvrtc();
    ~StandInNvrtc();
    StandInNvrtc(const StandInNvrtc&) = delete;
    StandInNvrtc& operator=(const StandInNvrtc&) = delete;

    std::shared_ptr<Nvrtc> nvrtc() const { return nvrtc_; }

    std::vector<std::string> texts;          ///< of the programs compiled, in order
    std::vector<std::string> architectures;  ///< of each, as its option

private:
    std::shared_ptr<Nvrtc> nvrtc_;
};

}  // namespace cairn::device::cuda
