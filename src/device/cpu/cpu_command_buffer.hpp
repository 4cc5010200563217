#pragma once

#include "device/command_buffer.hpp"
#include "device/cpu/team.hpp"
#include "device/cpu/thread_pool.hpp"

#include <cstdint>
#include <vector>

namespace cairn::device {

/// Launches that the threads of a pool run in one parallel region. The pool must outlive it.
class CpuCommandBuffer final : public CommandBuffer {
public:
    CpuCommandBuffer(std::span<const KernelLaunch> launches, ThreadPool& pool);

    void update() override;
    int threads() const noexcept override { return is_small() ? 1 : pool_.size(); }
    void run(Submission& submission) override;

    /// ParallelRegion::serial_launches for the current sizes.
    std::span<const std::int32_t> serial_launches() const noexcept { return serial_launches_; }

private:
    bool is_small() const noexcept {
        return serial_launches_.empty() || serial_launches_[0] == static_cast<std::int32_t>(serial_launches_.size());
    }

    ThreadPool& pool_;
    TeamState team_;
    std::vector<std::int32_t> serial_launches_;
};

}  // namespace cairn::device
