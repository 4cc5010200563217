#pragma once

#include "device/cuda/nvrtc.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cairn::device::cuda {

/// An NVRTC that takes any text, unless it contains `#error`. The machine code of a text, which ends in a null
/// character, differs from that of other texts and architectures. At most one exists at a time.
class StandInNvrtc {
public:
    StandInNvrtc();
    ~StandInNvrtc();
    StandInNvrtc(const StandInNvrtc&) = delete;
    StandInNvrtc& operator=(const StandInNvrtc&) = delete;

    std::shared_ptr<Nvrtc> nvrtc() const { return nvrtc_; }

    std::vector<std::string> texts;          ///< of the programs compiled, in order
    std::vector<std::string> architectures;  ///< of each, as its option
    int calls = 0;                           ///< of functions of NVRTC, other than those that a compilation makes
    int minor_version = 0;                   ///< of NVRTC 13

private:
    std::string image() const;

    std::shared_ptr<Nvrtc> nvrtc_;
};

}  // namespace cairn::device::cuda
