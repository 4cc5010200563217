#pragma once

#include "device/command_buffer.hpp"
#include "device/cuda/bound_launch.hpp"
#include "device/cuda/captured_launches.hpp"
#include "device/cuda/event.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cairn::device::cuda {

/// Launches that a stream of a device runs. Those that stay on the device run as CUDA graphs: a longest run of at
/// least two consecutive ones, or of a function alone, is a graph, captured in the first submission and changed node by
/// node when arguments change. Where those of a function (KernelLaunch::enqueued) have changed, its graph is captured
/// again, and the executable graph is updated, or replaced if the driver refuses that. Copies between host and device
/// are submitted one by one between the graphs, and so is everything if graphs are not wanted or if the caller wants to
/// see each launch: its progress or its time.
///
/// The failure record is read once, at the end; the device is waited for after each launch only for progress. A
/// submission polls Submission::should_stop between graphs and single launches. One that is not waited for leaves an
/// event behind it, which the next one lets precede its work, in whatever stream.
class CudaCommands final : public CommandBuffer {
public:
    CudaCommands(std::shared_ptr<CudaDevice> device, std::span<const KernelLaunch> launches,
                 std::span<const std::int64_t> symbols, bool graphs);
    ~CudaCommands() override;

    void update() override { has_new_symbols_ = true; }
    int threads() const noexcept override { return 1; }
    void run(Submission& submission) override;
    bool is_pending() const noexcept override { return is_pending_; }
    void wait(Submission& submission) override;

private:
    /// These return false if the run ends with an exception or a failure, which they have noted.
    bool prepare_graphs(Submission& submission);
    bool capture_graphs(Submission& submission);
    bool capture(std::size_t first, std::size_t end, std::vector<CapturedLaunches>& graphs, Submission& submission);
    bool capture_again(CapturedLaunches& graph, Submission& submission);
    /// Captures launches that are bound; the caller owns `graph`.
    bool capture_launches(std::size_t first, std::size_t end, std::vector<CapturedLaunch>& captured, GraphHandle& graph,
                          Submission& submission);
    bool has_function(std::size_t first, std::size_t end) const;
    bool is_outdated(const CapturedLaunches& graph) const;
    bool bind(std::size_t launch, Submission& submission);
    bool prepare(Submission& submission);
    bool submit_all(Submission& submission, bool with_graphs);
    bool submit(std::int64_t launch, Submission& submission);
    bool submit(CapturedLaunches& graph, Submission& submission);
    bool finish(Submission& submission);
    bool wait(std::int64_t launch, Submission& submission);
    bool note_failure(std::int64_t launch, Submission& submission);
    void note_spans(std::int64_t submitted, Submission& submission);

    std::shared_ptr<CudaDevice> device_;
    ProgramArguments arguments_;
    std::vector<BoundLaunch> bound_;
    bool graphs_wanted_, is_captured_ = false;
    std::vector<CapturedLaunches> graphs_;   // in order; empty until captured
    std::vector<ExecutableGraph> replaced_;  // that pending submissions may still run
    std::vector<Event> events_;              // before the first launch and after each; empty until spans are wanted
    StreamHandle stream_ = nullptr;          // of the current submission
    std::optional<Event> last_;              // behind submissions that were not waited for; empty before the first one
    bool is_pending_ = false;                // there may be such submissions
    bool follows_pending_ = false;           // there were when the current submission began
    bool has_new_symbols_ = true;
};

}  // namespace cairn::device::cuda
