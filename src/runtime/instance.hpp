#pragma once

#include "runtime/arenas.hpp"
#include "runtime/bucket_programs.hpp"
#include "runtime/caller_outputs.hpp"
#include "runtime/frame.hpp"
#include "runtime/solve_sizes.hpp"
#include "runtime/state_slot.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace cairn::runtime {

/// State shared by all instances of one CompiledGraph. Immutable, except for the one bind and the verification status.
struct Executable {
    Executable(const Context& given, ProgramSet set, const std::stop_token& stop = {});

    Context context;
    ProgramSet set;
    std::vector<std::unique_ptr<BucketPrograms>> buckets;
    BoundValues bound;
    bool needs_weights = false;
    types::PerDevice<std::int64_t> arena_bytes;  ///< largest arenas of all programs that may run
    std::vector<std::vector<int>> symbol_of;     ///< per bucket: index of its programs' symbols in the set's
    const bool has_narrow_states;                ///< states are stored narrower: see BucketPrograms
    /// Set if states are stored narrower and a bucket failed: all run their exact programs, on states of the declared
    /// dtype.
    std::atomic<bool> states_fell_back{false};

    /// All programs linked now, to be bound together.
    std::vector<std::shared_ptr<BoundProgram>> programs() const;
    /// Makes all buckets fall back, because states are stored narrower.
    void fall_back();
    /// BucketPrograms::resolve() of a bucket. If states are stored narrower, all buckets fall back on a failure.
    bool resolve(std::size_t bucket, std::shared_ptr<BoundProgram> exact, std::span<const double> errors);
};

/// A symbol of the graph and its current value.
struct SizeSlot {
    std::string name;
    std::int64_t low = 0, high = 0, value = 0;
    bool set = false;
    bool is_state_length = false;
    bool derived = false;  ///< not set: the value is solved from all inputs together, again for each run
    int input = -1;        ///< input whose shape alone determined the value; -1: none
};

/// Data of one input.
struct InputSlot {
    const void* data = nullptr;
    std::vector<std::int64_t> shape;
    bool set = false;
    ScopedInputView held;                ///< owns a view with a release callback until the next one
    std::vector<std::byte> copy, spare;  ///< copy of a strided view or a temporary; memory of the next copy
};

/// Program and frame of an instance for one bucket.
struct BucketFrame {
    BucketFrame(std::shared_ptr<BoundProgram> given, const Context::Impl& context)
        : program(std::move(given)),
          frame(program->linked, context),
          caller_outputs(program->linked.program()),
          bases(program->linked.program().buffers.size()),
          symbol_values(program->linked.peak().at) {
        frame.resize(symbol_values);
    }

    std::shared_ptr<BoundProgram> program;
    Frame frame;
    CallerOutputs caller_outputs;
    std::vector<std::byte*> bases;            // scratch
    std::vector<std::int64_t> symbol_values;  // of the frame
    bool is_fallback = false;                 // the exact program, replacing one that failed verification
};

/// Times of the steps of a profiled run.
struct Profile {
    std::vector<double> seconds;
    std::vector<device::TimeSpan> spans;  ///< of all threads, for each step
};

/// Reference run: the exact program on memory of its own, from the same inputs and states.
struct ExactRun {
    std::unique_ptr<BucketFrame> bucket;
    Arenas arenas;
    std::vector<StateSlot> states;
    Profile profile = {};
};

/// Runs of one bucket that have returned before their work on a device was complete.
struct PendingRuns {
    BucketFrame* frame = nullptr;
    int count = 0;
};

/// Execution state of one instance: sizes, pointers, arena and states. For one thread at a time.
class Instance {
public:
    explicit Instance(std::shared_ptr<Executable> executable);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    std::shared_ptr<Executable> executable;
    std::vector<SizeSlot> sizes;
    std::vector<InputSlot> inputs;    ///< in the order of ProgramSet::inputs
    std::vector<OutputSlot> outputs;  ///< in the order of the programs' outputs
    std::vector<StateSlot> states;    ///< in the order of the programs' states
    Profile profile;                  ///< of the last profiled run
    int profiled_bucket = -1;
    int bucket = -1;    ///< bucket that ran last; -1: none since the last change
    SizeSolver solver;  ///< scratch
    std::atomic<bool> running{false};

    void run(const RunOptions& options);
    /// Waits for pending runs, and throws the failure of any of them.
    void wait();
    bool is_pending() const noexcept { return pending_.has_value(); }
    OutputView output(std::size_t index);
    void rewind(std::string_view symbol, std::int64_t length);
    /// Converts states that are stored narrower to their declared dtype. Throws Error(memory), before any change, when
    /// the system has no more.
    void widen_states();
    /// Returns *this, which may be changed now. Throws Busy from inside a run, whose sinks are the caller's code.
    Instance& require_idle(std::string_view part);
    /// As above, after pending runs.
    Instance& require_complete(std::string_view part);
    /// Touches the arena and the states for the sizes set, in the bucket that covers them.
    void reserve();
    /// The bucket that covers the sizes set.
    int pick_bucket() const;
    SizeSlot& size(std::string_view name);
    Arenas& arenas() noexcept { return arenas_; }
    /// The used part of the CPU's arena: as much as the runs so far have needed.
    ByteRange arena() const noexcept { return arenas_.touched(Device::cpu); }
    /// The frame that ran last in a bucket, or would run.
    const BucketFrame& frame(int bucket) const { return *frames_[static_cast<std::size_t>(bucket)]; }

private:
    /// Solves for the symbols that are not set, from all inputs together.
    void derive_sizes();
    void check_inputs();
    /// The frame to run in a bucket in its present status.
    BucketFrame& frame_of(int bucket);
    bool must_fall_back(std::size_t bucket) const;
    /// Resizes a frame to the sizes set now.
    void resize(BucketFrame& target, int bucket) const;
    /// Prepares sizes and memory of a bucket's frame for the sizes set now.
    BucketFrame& prepare(int bucket);
    void check_states(const Frame& frame) const;
    void check_state_integrity() const;
    void touch_states(const Frame& frame);
    void resolve_outputs(const BucketFrame& target);
    /// Sets all pointers. Outputs are in the arena, except for direct ones among `outputs`.
    void set_pointers(BucketFrame& target, std::span<const StateSlot> states, std::span<const OutputSlot> outputs,
                      const Arenas& arenas) const;
    const Context::Impl& context() const noexcept { return *executable->context.impl(); }
    /// True if a run of this bucket may be submitted behind those that are pending.
    bool may_follow_pending(int bucket) const;
    /// False if something after the run needs it to be complete.
    bool may_return_early(const RunOptions& options) const;
    void execute(Frame& frame, const RunOptions& options, bool wait, std::string_view phase,
                 device::Submission& submission);
    void note_pending(BucketFrame& ran) noexcept;
    /// Ends pending runs, which are complete. If their outcome is a failure, restores the lengths of states.
    void settle_pending(device::Submission& outcome);
    /// Marks states as damaged if the run, or several, may have begun to overwrite live rows.
    void note_damage(const Frame& frame, const device::Submission& submission, int runs = 1);
    void commit(const Frame& frame);

    // verification.cpp
    /// Runs the exact program of a bucket. If it throws, the instance is unchanged.
    std::unique_ptr<ExactRun> run_exact(std::shared_ptr<BoundProgram> program, int bucket, const RunOptions& options);
    /// Runs a bucket's program. False if its results are out of tolerance against the exact run, if there was one.
    bool run_active(int bucket, const RunOptions& options, bool wait, const ExactRun* exact);
    /// True if a run has appended values that the narrower storage of a state cannot hold.
    bool overflows_storage(const BucketFrame& ran) const;
    std::vector<double> errors(int bucket, const ExactRun& exact) const;
    double state_error(std::size_t state, const Frame& frame, const ExactRun& exact) const;
    /// Makes the exact run the result of this run.
    void fall_back(int bucket, ExactRun& exact) noexcept;

    std::vector<std::unique_ptr<BucketFrame>> frames_;
    std::vector<ByteRange> input_memory_;  // scratch
    Arenas arenas_;
    std::optional<PendingRuns> pending_;
    std::vector<std::int64_t> sizes_before_pending_;  // values of `sizes` before the first pending run
};

}  // namespace cairn::runtime
