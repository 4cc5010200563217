#pragma once

#include "device/cuda/nvrtc.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cairn::device::cuda {

/// An NVRTC that takes any text, unless it contains `#error`; with `#memory` it is out of memory. The machine code of a
/// text, which ends in a null character, differs from that of other texts and architectures. At most one exists at a
/// time. Several threads may compile; the members are for one thread, when none does.
class StandInNvrtc {
public:
    StandInNvrtc();
    ~StandInNvrtc();
    StandInNvrtc(const StandInNvrtc&) = delete;
    StandInNvrtc& operator=(const StandInNvrtc&) = delete;

    std::shared_ptr<Nvrtc> nvrtc() const { return nvrtc_; }
    /// Programs that have not been destroyed.
    std::size_t open_programs() const { return programs_.size(); }

    std::vector<std::string> texts;          ///< of the programs compiled, in order
    std::vector<std::string> architectures;  ///< of each, as its option
    int calls = 0;                           ///< of functions of NVRTC, other than those that a compilation makes
    int minor_version = 0;                   ///< of NVRTC 13
    /// Called for each program that is compiled, by its thread.
    std::function<void(const std::string& text)> on_compile;

private:
    struct Program {
        std::string text, architecture;

        std::string image() const;
    };
    Program& program(NvrtcProgram handle);

    std::mutex mutex_;
    std::map<NvrtcProgram, Program> programs_;
    std::size_t created_ = 0;
    std::shared_ptr<Nvrtc> nvrtc_;
};

}  // namespace cairn::device::cuda
