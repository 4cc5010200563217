#pragma once

#include "device/cpu/arena.hpp"
#include "runtime/bucket_programs.hpp"
#include "runtime/caller_outputs.hpp"
#include "runtime/frame.hpp"
#include "runtime/solve_sizes.hpp"
#include "runtime/state_slot.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace cairn::runtime {

/// What all instances of one CompiledGraph share. Immutable, but for the one bind and verdicts on inexact programs.
struct Executable {
    Executable(const Context& given, ProgramSet set, const std::stop_token& stop = {});

    Context context;
    ProgramSet set;
    std::vector<std::unique_ptr<BucketPrograms>> buckets;
    BoundValues bound;
    bool needs_weights = false;
    std::size_t arena_bytes = 0;              ///< the most that any program takes, whichever is run
    std::vector<std::vector<int>> symbol_of;  ///< per bucket: position of its programs' symbols among the set's
    const bool stores_narrower;               ///< of states: see BucketPrograms
    /// Then: a bucket was too far off, and all run their exact programs, on states as users see them.
    std::atomic<bool> states_fell_back{false};

    /// All that is linked now, to be bound together.
    std::vector<std::shared_ptr<BoundProgram>> programs() const;
    /// Lets all buckets fall back whose states are stored narrower.
    void fall_back();
    /// BucketPrograms::resolve() of a bucket, and of all where they stand and fall together.
    bool resolve(std::size_t bucket, std::shared_ptr<BoundProgram> exact, std::span<const double> errors);
};

/// A symbol of the whole graph and its present value.
struct SizeSlot {
    std::string name;
    std::int64_t low = 0, high = 0, value = 0;
    bool set = false;
    bool is_state_length = false;
    bool derived = false;  ///< not set: the value follows from inputs together, and is derived again for each run
    int input = -1;        ///< whose shape alone gave the value; -1: none
};

struct InputSlot {
    const void* data = nullptr;
    std::vector<std::int64_t> shape;
    bool set = false;
    ScopedInputView held;                ///< keeps a released-by-callback view until the next one
    std::vector<std::byte> copy, spare;  ///< of a strided view or a temporary; the one to come
};

/// What an instance runs in a bucket.
struct BucketFrame {
    explicit BucketFrame(std::shared_ptr<BoundProgram> given)
        : program(std::move(given)),
          frame(program->linked),
          caller_outputs(program->linked.program()),
          bases(program->linked.program().buffers.size()),
          symbol_values(program->linked.peak().at) {
        frame.resize(symbol_values);
    }

    std::shared_ptr<BoundProgram> program;
    Frame frame;
    CallerOutputs caller_outputs;
    std::vector<std::byte*> bases;            // scratch
    std::vector<std::int64_t> symbol_values;  // that the frame has
    bool is_fallback = false;                 // the exact program, in place of one that was too far off
};

/// What the steps of a run took, where it was profiled.
struct Profile {
    std::vector<double> seconds;
    std::vector<TimeSpan> spans;  ///< of each step those of all members
};

/// A run of the exact program, on memory of its own, from the same inputs and states.
struct ExactRun {
    std::unique_ptr<BucketFrame> bucket;
    device::Arena arena;
    std::vector<StateSlot> states;
    Profile profile = {};
};

/// One executor: sizes, pointers, arena and states. For one thread at a time.
class Instance {
public:
    explicit Instance(std::shared_ptr<Executable> executable);

    std::shared_ptr<Executable> executable;
    std::vector<SizeSlot> sizes;
    std::vector<InputSlot> inputs;    ///< in the order of ProgramSet::inputs
    std::vector<OutputSlot> outputs;  ///< in the order of the programs' outputs
    std::vector<StateSlot> states;    ///< in the order of the programs' states
    Profile profile;                  ///< of the last profiled run
    int profiled_bucket = -1;
    int bucket = -1;    ///< that ran last
    SizeSolver solver;  ///< scratch
    std::atomic<bool> running{false};

    void run(const RunOptions& options);
    OutputView output(std::size_t index) const;
    void rewind(std::string_view symbol, std::int64_t length);
    /// Stores states as users see them from now on, where they are stored narrower. Throws Error(memory), before it has
    /// changed anything, when the system has no more.
    void widen_states();
    /// Itself, unless it runs: what may be changed now. Throws Busy from inside a run, whose sinks are the caller's
    /// code.
    Instance& require_idle(std::string_view part);
    /// Touches arena and states for these sizes, whatever bucket they fall into.
    void reserve();
    /// The bucket that is for the sizes set.
    int pick_bucket() const;
    SizeSlot& size(std::string_view name);
    const device::Arena& arena() const noexcept { return arena_; }
    device::Arena& arena() noexcept { return arena_; }
    /// What ran last in a bucket, or would run.
    const BucketFrame& frame(int bucket) const { return *frames_[static_cast<std::size_t>(bucket)]; }

private:
    /// Gives symbols that are not set the values that follow from all inputs together.
    void derive_sizes();
    void check_inputs();
    /// What is run in a bucket by the present verdict.
    BucketFrame& frame_of(int bucket);
    bool must_fall_back(std::size_t bucket) const;
    /// The values of a program's symbols for what is set now.
    void resize(BucketFrame& target, int bucket) const;
    /// Sizes and memory of a bucket's frame for what is set now.
    BucketFrame& prepare(int bucket);
    void check_states(const Frame& frame) const;
    void check_state_integrity() const;
    void touch_states(const Frame& frame);
    void resolve_outputs(const BucketFrame& target);
    /// Sets all pointers. Outputs are in the arena, but for direct ones among `outputs`.
    void set_pointers(BucketFrame& target, std::span<const StateSlot> states, std::span<const OutputSlot> outputs,
                      std::byte* arena) const;
    void execute(Frame& frame, const RunOptions& options, std::string_view phase, ParallelRegion& region);
    void note_damage(const Frame& frame, const ParallelRegion& region);
    void commit(const Frame& frame);

    // verification.cpp
    /// Runs the exact program of a bucket. Nothing of the instance has changed, whatever it throws.
    std::unique_ptr<ExactRun> run_exact(std::shared_ptr<BoundProgram> program, int bucket, const RunOptions& options);
    /// Runs a bucket's program. False where it is too far from the exact one.
    bool run_chosen(int bucket, const RunOptions& options, const ExactRun* exact);
    /// Whether a run has appended what the narrower storage of a state cannot hold.
    bool is_beyond_storage(const BucketFrame& ran) const;
    std::vector<double> errors(int bucket, const ExactRun& exact) const;
    double state_error(std::size_t state, const Frame& frame, const ExactRun& exact) const;
    /// The exact run was the run.
    void fall_back(int bucket, ExactRun& exact) noexcept;

    std::vector<std::unique_ptr<BucketFrame>> frames_;
    std::vector<ByteRange> input_memory_;  // scratch
    device::Arena arena_;
    device::TeamState team_;
};

}  // namespace cairn::runtime
