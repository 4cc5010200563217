#pragma once

#include "cairn/args.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <span>

namespace cairn::inline v0 {
struct Kernel;
}

/// Kernel launches that a device runs as one unit.
namespace cairn::device {

/// One instruction, ready to run.
struct KernelLaunch {
    void (*run)(const Args& args, Team& team) = nullptr;
    Args args = {};
    int inputs = 0, outputs = 0;  ///< number of operands in `args`
    /// Bytes of the operands at the current sizes: a launch of few bytes is not shared between threads.
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();

    /// For a device that compiles its kernels, in place of `run`: code of Backend::compile, owned by the caller, and
    /// the number of blocks along each axis. A grid without blocks launches nothing.
    const void* code = nullptr;
    std::array<unsigned, 3> grid{1, 1, 1};
    /// For such a device, in place of `run` and `code`: a kernel of the caller whose `enqueue` submits the work, and
    /// the number of values in `args.dims`.
    const Kernel* enqueued = nullptr;
    int dims = 0;
    /// For a copy between such a device and the host, which has neither: bytes of its one input and of its one output,
    /// both dense.
    std::size_t copy_bytes = 0;
};

/// Why and where a kernel could not compute with its data: the arguments of Team::fail.
struct Failure {
    const char* reason = nullptr;
    int input = -1;  ///< of the instruction; -1: unknown
    std::int64_t position = 0, value = 0;
};

/// Time span in which a thread worked on a launch, in seconds since the submission began; empty if it did not. A device
/// with a clock of its own has one span for each launch, in seconds since it began with the first one.
struct TimeSpan {
    double begin = 0, end = 0;
};

/// The stream that a submission is ordered in, and whether the caller waits for it.
struct StreamOptions {
    /// A stream of the host program, as the device's driver names it, behind whose work this is ordered; empty: a
    /// stream of the device's own.
    std::optional<void*> stream = {};
    bool wait = true;  ///< false: the call may return once the work is submitted
};

/// One execution of a command buffer: what the caller wants to see, and the outcome.
struct Submission {
    /// With spans or progress, and after a stop, the device is waited for in any case.
    StreamOptions stream_options = {};
    TimeSpan* spans = nullptr;  ///< per launch, of CommandBuffer::threads(); filled in if not null
    /// Polled between launches, or between groups of launches that the device runs as one, on the caller's thread;
    /// null: never.
    bool (*should_stop)(void* caller) = nullptr;
    void (*progress)(void* caller, std::int64_t done) = nullptr;  ///< called after each launch, on the caller's thread
    void* caller = nullptr;

    /// Outcome.
    std::int64_t stopped = -1;  ///< number of launches complete when the caller wanted to stop; -1: it did not
    std::int64_t reached = -1;  ///< the last launch that may have begun
    std::int64_t count = 0;     ///< number of launches
    std::atomic<std::int64_t> failed{-1};  ///< the launch whose kernel reported a failure or threw
    std::exception_ptr thrown = {};        ///< exception of the first kernel that threw, or of a device that failed
                                           ///< in a launch that may be unknown
    std::optional<Failure> failure = {};   ///< first failure that a kernel reported

    /// Number of launches that may have begun, counted from the first.
    std::int64_t begun() const noexcept { return stopped >= 0 && failed < 0 ? stopped : std::min(reached + 1, count); }
};

/// Launches that a device runs one after another. The list and its kernels are fixed when it is recorded; arguments,
/// grids and bytes of its launches may change between submissions.
class CommandBuffer {
public:
    virtual ~CommandBuffer();
    CommandBuffer(const CommandBuffer&) = delete;
    CommandBuffer& operator=(const CommandBuffer&) = delete;

    /// Must be called after KernelLaunch::bytes of a launch or a symbol's value has changed.
    virtual void update() = 0;
    /// Number of threads that run the launches at their current sizes: 1 if all are too small to share.
    virtual int threads() const noexcept = 0;
    /// Runs all launches and returns when they are complete, one has failed, or the caller wanted to stop; without
    /// StreamOptions::wait perhaps earlier. Failures and exceptions of kernels are in the outcome. For one host thread
    /// at a time.
    virtual void run(Submission& submission) = 0;
    /// True if runs have returned before their launches were complete. Another run may follow; it is ordered behind
    /// them in whatever stream it is, and on the host it waits for none of them unless it has to.
    virtual bool is_pending() const noexcept { return false; }
    /// Waits for these runs. Their outcome, as if they were one, is put into a fresh submission.
    virtual void wait(Submission&) {}

    std::span<const KernelLaunch> launches() const noexcept { return launches_; }

protected:
    explicit CommandBuffer(std::span<const KernelLaunch> launches) noexcept : launches_(launches) {}

private:
    std::span<const KernelLaunch> launches_;
};

}  // namespace cairn::device
