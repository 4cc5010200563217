#pragma once

#include "device/command_buffer.hpp"
#include "device/cuda/bound_launch.hpp"
#include "device/cuda/event.hpp"

#include <memory>
#include <span>
#include <vector>

namespace cairn::device::cuda {

/// Launches that the stream of a device runs, submitted one by one. The failure record is read once, at the end; the
/// device is waited for after each launch only if the caller wants to see progress.
class CudaCommands final : public CommandBuffer {
public:
    CudaCommands(std::shared_ptr<CudaDevice> device, std::span<const KernelLaunch> launches,
                 std::span<const std::int64_t> symbols);

    void update() override { has_new_symbols_ = true; }
    int threads() const noexcept override { return 1; }
    void run(Submission& submission) override;

private:
    /// These return false if the run ends with an exception or a failure, which they have noted.
    bool prepare(Submission& submission);
    bool submit(std::int64_t launch, Submission& submission);
    bool wait(std::int64_t launch, Submission& submission);
    void note_spans(std::int64_t submitted, Submission& submission);

    std::shared_ptr<CudaDevice> device_;
    ProgramArguments arguments_;
    std::vector<BoundLaunch> bound_;
    std::vector<Event> events_;  // before the first launch and after each; empty until spans are wanted
    bool has_new_symbols_ = true;
};

}  // namespace cairn::device::cuda
