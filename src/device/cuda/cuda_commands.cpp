#include "device/cuda/cuda_commands.hpp"

#include "cairn/error.hpp"

#include <optional>

namespace cairn::device::cuda {
namespace {

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
                           std::span<const std::int64_t> symbols)
    : CommandBuffer(launches), device_(std::move(device)), arguments_(device_, symbols) {
    for (std::size_t i = 0; i < launches.size(); ++i)
        bound_.emplace_back(arguments_, launches[i].inputs + launches[i].outputs, static_cast<int>(i));
}

void CudaCommands::run(Submission& submission) {
    submission.count = static_cast<std::int64_t>(launches().size());
    std::optional<CurrentContext> current;
    if (!attempt(submission, *device_, -1, [&] { current.emplace(*device_); })) return;
    WaitAtEnd wait_at_end(*device_);
    if (!prepare(submission)) return;
    std::int64_t submitted = 0;
    while (submitted < submission.count && submission.stopped < 0) {
        submission.reached = submitted;
        if (!submit(submitted, submission)) return;
        ++submitted;
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
    const auto i = static_cast<std::size_t>(launch);
    return attempt(submission, *device_, launch, [&] {
        bound_[i].submit(launches()[i], *device_);
        if (submission.spans != nullptr) events_[i + 1].record();
    });
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
