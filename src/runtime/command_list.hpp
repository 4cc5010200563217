#pragma once

#include "device/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cairn::runtime {

/// The launches of a program as command buffers: one for each segment, a longest run of consecutive launches on one
/// device. A program of the CPU alone is one segment.
class CommandList {
public:
    /// `backends[i]` is the backend of `launches[i]`, `symbols` are as in Backend::record. All lists and the backends
    /// must outlive the command list.
    CommandList(std::span<const device::KernelLaunch> launches, std::span<device::Backend* const> backends,
                std::span<const std::int64_t> symbols);

    /// As in CommandBuffer.
    void update();
    int threads() const noexcept;
    /// Only segments of the backend `streaming`, if it is not null, use the submission's stream, and only the last
    /// segment may be left running.
    void run(device::Submission& submission, const device::Backend* streaming = nullptr);
    bool is_pending() const noexcept;
    void wait(device::Submission& submission);
    /// True if a run may follow one that is pending: nothing of it is done by the host.
    bool is_one_segment() const noexcept { return segments_.size() == 1; }

    std::size_t segments() const noexcept { return segments_.size(); }
    const device::CommandBuffer& segment(std::size_t i) const noexcept { return *segments_[i].commands; }

private:
    struct Segment {
        std::int64_t first;  ///< launch
        const device::Backend* backend;
        std::unique_ptr<device::CommandBuffer> commands;
    };
    /// A segment as a part of a submission.
    class Part;

    std::vector<Segment> segments_;
    std::int64_t count_ = 0;
};

}  // namespace cairn::runtime
