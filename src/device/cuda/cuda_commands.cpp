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

/// Waits for a stream when it goes out of scope, so that no launch runs on after an error or an exception of the
/// caller.
class WaitAtEnd {
public:
    WaitAtEnd(CudaDevice& device, StreamHandle stream) : device_(device), stream_(stream) {}
    ~WaitAtEnd() {
        if (!is_done) device_.calls().release(&DriverTable::stream_synchronize, stream_);
    }
    WaitAtEnd(const WaitAtEnd&) = delete;
    WaitAtEnd& operator=(const WaitAtEnd&) = delete;

    bool is_done = false;

private:
    CudaDevice& device_;
    StreamHandle stream_;
};

}  // namespace

CudaCommands::CudaCommands(std::shared_ptr<CudaDevice> device, std::span<const KernelLaunch> launches,
                           std::span<const std::int64_t> symbols, bool graphs)
    : CommandBuffer(launches), device_(std::move(device)), arguments_(device_, symbols), graphs_wanted_(graphs) {
    for (std::size_t i = 0; i < launches.size(); ++i)
        bound_.emplace_back(arguments_, launches[i].inputs + launches[i].outputs, static_cast<int>(i));
}

CudaCommands::~CudaCommands() {
    // The memory that the launches use may be freed next.
    if (is_pending_) release_on(*device_, [&] { last_->release(); });
}

void CudaCommands::run(Submission& submission) {
    submission.count = static_cast<std::int64_t>(launches().size());
    std::optional<CurrentContext> current;
    if (!attempt(submission, *device_, -1, [&] {
            current.emplace(*device_);
            stream_ = device_->stream_of(submission.stream_options);
        }))
        return;
    WaitAtEnd wait_at_end(*device_, stream_);
    const bool with_graphs = graphs_wanted_ && submission.spans == nullptr && submission.progress == nullptr;
    if (with_graphs && !prepare_graphs(submission)) return;
    if (!prepare(submission)) return;
    if (!submit_all(submission, with_graphs)) return;
    wait_at_end.is_done = finish(submission);
}

void CudaCommands::wait(Submission& submission) {
    if (!is_pending_) return;
    submission.count = static_cast<std::int64_t>(launches().size());
    submission.reached = submission.count - 1;
    std::optional<CurrentContext> current;
    if (attempt(submission, *device_, -1, [&] {
            current.emplace(*device_);
            last_->synchronize();
            is_pending_ = false;
        }))
        note_failure(-1, submission);
}

bool CudaCommands::submit_all(Submission& submission, bool with_graphs) {
    std::int64_t submitted = 0;
    std::size_t graph = 0;
    while (submitted < submission.count && submission.stopped < 0) {
        if (with_graphs && graph < graphs_.size() && graphs_[graph].first == static_cast<std::size_t>(submitted)) {
            if (!submit(graphs_[graph], submission)) return false;
            submitted = static_cast<std::int64_t>(graphs_[graph++].end());
        } else {
            if (!submit(submitted, submission)) return false;
            ++submitted;
        }
        if (submission.progress != nullptr) {
            if (!wait(submitted - 1, submission)) return false;
            submission.progress(submission.caller, submitted);
        }
        if (submission.should_stop != nullptr && submitted < submission.count &&
            submission.should_stop(submission.caller))
            submission.stopped = submitted;
    }
    return true;
}

/// Waits for the launches if the submission asks for that; else leaves an event behind them.
bool CudaCommands::finish(Submission& submission) {
    if (submission.stream_options.wait || submission.spans != nullptr || submission.progress != nullptr ||
        submission.stopped >= 0) {
        const bool has_waited = submission.progress != nullptr && submission.reached >= 0;
        if (!has_waited && !wait(-1, submission)) return false;
        if (submission.spans != nullptr) note_spans(submission.begun(), submission);
        return true;
    }
    return attempt(submission, *device_, -1, [&] {
        if (!last_) last_.emplace(device_, Event::Purpose::ordering);
        last_->record(stream_);
        is_pending_ = true;
    });
}

bool CudaCommands::prepare_graphs(Submission& submission) {
    if (!is_pending_) replaced_.clear();
    if (!is_captured_ && !capture_graphs(submission)) return false;
    for (CapturedLaunches& graph : graphs_) {
        for (std::size_t i = graph.first; i < graph.end(); ++i)
            if (!bind(i, submission)) return false;
        if (is_outdated(graph) && !capture_again(graph, submission)) return false;
        for (std::size_t i = graph.first; i < graph.end(); ++i)
            if (!attempt(submission, *device_, static_cast<std::int64_t>(i),
                         [&] { graph.launches[i - graph.first].update(bound_[i], graph.graph); }))
                return false;
    }
    return true;
}

bool CudaCommands::bind(std::size_t launch, Submission& submission) {
    return attempt(submission, *device_, static_cast<std::int64_t>(launch),
                   [&] { bound_[launch].bind(launches()[launch], *device_); });
}

bool CudaCommands::has_function(std::size_t first, std::size_t end) const {
    return std::any_of(launches().begin() + static_cast<std::ptrdiff_t>(first),
                       launches().begin() + static_cast<std::ptrdiff_t>(end),
                       [](const KernelLaunch& launch) { return launch.enqueued != nullptr; });
}

bool CudaCommands::is_outdated(const CapturedLaunches& graph) const {
    if (graph.is_unknown) return true;
    for (std::size_t i = graph.first; i < graph.end(); ++i)
        if (graph.launches[i - graph.first].is_outdated(bound_[i])) return true;
    return false;
}

bool CudaCommands::capture_graphs(Submission& submission) {
    for (std::size_t i = 0; i < bound_.size(); ++i)
        if (!bind(i, submission)) return false;
    std::vector<CapturedLaunches> graphs;
    for (std::size_t first = 0; first < bound_.size();) {
        std::size_t end = first;
        while (end < bound_.size() && bound_[end].stays_on_device(*device_)) ++end;
        const bool is_graph = end - first >= min_captured || has_function(first, end);
        if (is_graph && !capture(first, end, graphs, submission)) return false;
        first = std::max(end, first + 1);
    }
    graphs_ = std::move(graphs);
    is_captured_ = true;
    return true;
}

bool CudaCommands::capture_launches(std::size_t first, std::size_t end, std::vector<CapturedLaunch>& captured,
                                    GraphHandle& graph, Submission& submission) {
    // A library may load its kernels when they are first called.
    const CaptureMode mode = has_function(first, end) ? CaptureMode::relaxed : CaptureMode::thread_local_mode;
    std::optional<StreamCapture> stream;
    if (!attempt(submission, *device_, -1, [&] { stream.emplace(*device_, mode); })) return false;
    for (std::size_t i = first; i < end; ++i)
        if (!attempt(submission, *device_, static_cast<std::int64_t>(i), [&] {
                captured.emplace_back(bound_[i], i > first ? &bound_[i - 1] : nullptr, *device_, *stream);
            }))
            return false;
    return attempt(submission, *device_, -1, [&] { graph = stream->end(); });
}

bool CudaCommands::capture(std::size_t first, std::size_t end, std::vector<CapturedLaunches>& graphs,
                           Submission& submission) {
    std::vector<CapturedLaunch> captured;
    GraphHandle handle = nullptr;
    return capture_launches(first, end, captured, handle, submission) && attempt(submission, *device_, -1, [&] {
               ExecutableGraph graph(device_, handle, stream_);
               graphs.push_back({first, std::move(captured), std::move(graph)});
           });
}

bool CudaCommands::capture_again(CapturedLaunches& graph, Submission& submission) {
    std::vector<CapturedLaunch> captured;
    GraphHandle handle = nullptr;
    return capture_launches(graph.first, graph.end(), captured, handle, submission) &&
           attempt(submission, *device_, -1, [&] {
               std::optional<ExecutableGraph> replaced = graph.replace(std::move(captured), handle, device_, stream_);
               if (replaced && is_pending_) replaced_.push_back(std::move(*replaced));
           });
}

bool CudaCommands::prepare(Submission& submission) {
    return attempt(submission, *device_, -1, [&] {
        // Until pending work has been waited for, the record keeps the first failure of all of it.
        follows_pending_ = is_pending_;
        if (is_pending_)
            last_->block(stream_);
        else
            arguments_.clear_failure();
        if (has_new_symbols_) arguments_.submit_symbols(stream_);
        has_new_symbols_ = false;
        if (submission.spans == nullptr) return;
        while (events_.size() <= launches().size()) events_.emplace_back(device_);
        events_[0].record(stream_);
    });
}

bool CudaCommands::submit(std::int64_t launch, Submission& submission) {
    submission.reached = launch;
    const auto i = static_cast<std::size_t>(launch);
    return attempt(submission, *device_, launch, [&] {
        bound_[i].bind(launches()[i], *device_);
        bound_[i].submit(*device_, stream_);
        if (submission.spans != nullptr) events_[i + 1].record(stream_);
    });
}

bool CudaCommands::submit(CapturedLaunches& graph, Submission& submission) {
    submission.reached = static_cast<std::int64_t>(graph.end()) - 1;
    return attempt(submission, *device_, -1, [&] { graph.graph.launch(stream_); });
}

bool CudaCommands::wait(std::int64_t launch, Submission& submission) {
    return attempt(submission, *device_, launch,
                   [&] {
                       device_->calls().call(&DriverTable::stream_synchronize, stream_);
                       is_pending_ = false;
                   }) &&
           note_failure(launch, submission);
}

bool CudaCommands::note_failure(std::int64_t launch, Submission& submission) {
    const auto read_record = [&] {
        std::int64_t failed = -1;
        submission.failure = arguments_.failure(failed);
        if (!submission.failure) return;
        if (failed < 0 || failed >= submission.count || (failed > submission.reached && !follows_pending_))
            throw InternalError("cuda", "a kernel reported a failure of an instruction that did not run");
        submission.failed = failed;
    };
    return attempt(submission, *device_, launch, read_record) && !submission.failure;
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
