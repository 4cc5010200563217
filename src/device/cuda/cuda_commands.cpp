#include "device/cuda/cuda_commands.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace cairn::device::cuda {
namespace {

// A graph of one launch would take as long as the launch alone.
constexpr std::size_t min_captured = 2;

/// Calls `work`. False, with the exception in the submission, if it throws; `launch` is the one that is at fault,
/// unless the device is lost: that may be the fault of any launch before.
template <class Work>
bool attempt(Submission& submission, CudaDevice& device, std::int64_t launch, const Work& work) {
    try {
        work();
        return true;
    } catch (...) {
        submission.thrown = std::current_exception();
        if (!device.calls().is_lost()) submission.failed = launch;
        return false;
    }
}

/// Waits for the device when it goes out of scope, so that no launch runs on after an error or an exception of the
/// caller.
class WaitAtEnd {
public:
    explicit WaitAtEnd(CudaDevice& device) : device_(device) {}
    ~WaitAtEnd() {
        if (!is_idle) device_.calls().release(&DriverTable::stream_synchronize, device_.stream());
    }
    WaitAtEnd(const WaitAtEnd&) = delete;
    WaitAtEnd& operator=(const WaitAtEnd&) = delete;

    bool is_idle = false;

private:
    CudaDevice& device_;
};

}  // namespace

CudaCommands::CudaCommands(std::shared_ptr<CudaDevice> device, std::span<const KernelLaunch> launches,
                           std::span<const std::int64_t> symbols, bool graphs)
    : CommandBuffer(launches), device_(std::move(device)), arguments_(device_, symbols), graphs_wanted_(graphs) {
    for (std::size_t i = 0; i < launches.size(); ++i)
        bound_.emplace_back(arguments_, launches[i].inputs + launches[i].outputs, static_cast<int>(i));
}

void CudaCommands::run(Submission& submission) {
    submission.count = static_cast<std::int64_t>(launches().size());
    std::optional<CurrentContext> current;
    if (!attempt(submission, *device_, -1, [&] { current.emplace(*device_); })) return;
    WaitAtEnd wait_at_end(*device_);
    const bool with_graphs = graphs_wanted_ && submission.spans == nullptr && submission.progress == nullptr;
    if (with_graphs && !prepare_graphs(submission)) return;
    if (!prepare(submission)) return;
    std::int64_t submitted = 0;
    std::size_t graph = 0;
    while (submitted < submission.count && submission.stopped < 0) {
        if (with_graphs && graph < graphs_.size() && graphs_[graph].first == static_cast<std::size_t>(submitted)) {
            if (!submit(graphs_[graph], submission)) return;
            submitted = static_cast<std::int64_t>(graphs_[graph++].end());
        } else {
            if (!submit(submitted, submission)) return;
            ++submitted;
        }
        if (submission.progress != nullptr) {
            if (!wait(submitted - 1, submission)) return;
            submission.progress(submission.caller, submitted);
        }
        if (submission.should_stop != nullptr && submitted < submission.count &&
            submission.should_stop(submission.caller))
            submission.stopped = submitted;
    }
    const bool has_waited = submission.progress != nullptr && submitted > 0;
    if (!has_waited && !wait(-1, submission)) return;
    wait_at_end.is_idle = true;
    if (submission.spans != nullptr) note_spans(submitted, submission);
}

bool CudaCommands::prepare_graphs(Submission& submission) {
    if (!is_captured_ && !capture_graphs(submission)) return false;
    for (CapturedLaunches& graph : graphs_)
        for (std::size_t i = graph.first; i < graph.end(); ++i) {
            const auto update = [&] {
                bound_[i].bind(launches()[i], *device_);
                graph.launches[i - graph.first].update(bound_[i], graph.graph);
            };
            if (!attempt(submission, *device_, static_cast<std::int64_t>(i), update)) return false;
        }
    return true;
}

bool CudaCommands::capture_graphs(Submission& submission) {
    for (std::size_t i = 0; i < bound_.size(); ++i)
        if (!attempt(submission, *device_, static_cast<std::int64_t>(i),
                     [&] { bound_[i].bind(launches()[i], *device_); }))
            return false;
    std::vector<CapturedLaunches> graphs;
    for (std::size_t first = 0; first < bound_.size();) {
        std::size_t end = first;
        while (end < bound_.size() && bound_[end].stays_on_device(*device_)) ++end;
        if (end - first >= min_captured && !capture(first, end, graphs, submission)) return false;
        first = std::max(end, first + 1);
    }
    graphs_ = std::move(graphs);
    is_captured_ = true;
    return true;
}

bool CudaCommands::capture(std::size_t first, std::size_t end, std::vector<CapturedLaunches>& graphs,
                           Submission& submission) {
    std::optional<StreamCapture> stream;
    if (!attempt(submission, *device_, -1, [&] { stream.emplace(*device_); })) return false;
    std::vector<CapturedLaunch> captured;
    for (std::size_t i = first; i < end; ++i)
        if (!attempt(submission, *device_, static_cast<std::int64_t>(i),
                     [&] { captured.emplace_back(bound_[i], *device_, *stream); }))
            return false;
    return attempt(submission, *device_, -1, [&] {
        ExecutableGraph graph(device_, stream->end());
        graphs.push_back({first, std::move(captured), std::move(graph)});
    });
}

bool CudaCommands::prepare(Submission& submission) {
    return attempt(submission, *device_, -1, [&] {
        arguments_.clear_failure();
        if (has_new_symbols_) arguments_.upload_symbols();
        has_new_symbols_ = false;
        if (submission.spans == nullptr) return;
        while (events_.size() <= launches().size()) events_.emplace_back(device_);
        events_[0].record();
    });
}

bool CudaCommands::submit(std::int64_t launch, Submission& submission) {
    submission.reached = launch;
    const auto i = static_cast<std::size_t>(launch);
    return attempt(submission, *device_, launch, [&] {
        bound_[i].bind(launches()[i], *device_);
        bound_[i].submit(*device_, device_->stream());
        if (submission.spans != nullptr) events_[i + 1].record();
    });
}

bool CudaCommands::submit(CapturedLaunches& graph, Submission& submission) {
    submission.reached = static_cast<std::int64_t>(graph.end()) - 1;
    return attempt(submission, *device_, -1, [&] { graph.graph.launch(); });
}

bool CudaCommands::wait(std::int64_t launch, Submission& submission) {
    const auto note_failure = [&] {
        device_->synchronize();
        std::int64_t failed = -1;
        submission.failure = arguments_.failure(failed);
        if (!submission.failure) return;
        if (failed < 0 || failed > submission.reached)
            throw InternalError("cuda", "a kernel reported a failure of an instruction that did not run");
        submission.failed = failed;
    };
    return attempt(submission, *device_, launch, note_failure) && !submission.failure;
}

void CudaCommands::note_spans(std::int64_t submitted, Submission& submission) {
    attempt(submission, *device_, -1, [&] {
        double begin = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(submitted); ++i) {
            const double end = events_[i + 1].seconds_since(events_[0]);
            submission.spans[i] = {begin, end};
            begin = end;
        }
    });
}

}  // namespace cairn::device::cuda
