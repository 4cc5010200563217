#pragma once

#include "device/cpu/arena.hpp"
#include "runtime/bound_values.hpp"
#include "runtime/caller_outputs.hpp"
#include "runtime/frame.hpp"
#include "runtime/state_slot.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace cairn::inline v0::runtime {

/// What all instances of one CompiledGraph share. Immutable, but for the one bind.
struct Core {
    Core(const Context& given, ProgramSet set, const std::stop_token& stop = {});

    Context context;
    ProgramSet set;
    std::vector<std::unique_ptr<LinkedProgram>> programs;  ///< of each bucket
    BoundValues bound;
    bool needs_weights = false;
    std::vector<std::vector<int>> symbol_of;  ///< per bucket: position of its symbols among the set's
};

/// A symbol of the whole graph and its present value.
struct SizeSlot {
    std::string name;
    std::int64_t low = 0, high = 0, value = 0;
    bool set = false;
    bool is_state_length = false;
};

struct InputSlot {
    const void* data = nullptr;
    std::vector<std::int64_t> shape;
    bool set = false;
    HeldView held;                       ///< keeps a released-by-callback view until the next one
    std::vector<std::byte> copy, spare;  ///< of a strided view or a temporary; the one to come
};

/// One executor: sizes, pointers, arena and states. For one thread at a time.
class Instance {
public:
    explicit Instance(std::shared_ptr<Core> core);

    std::shared_ptr<Core> core;
    std::vector<SizeSlot> sizes;
    std::vector<InputSlot> inputs;    ///< in the order of ProgramSet::inputs
    std::vector<OutputSlot> outputs;  ///< in the order of the programs' outputs
    std::vector<StateSlot> states;    ///< in the order of the programs' states
    std::vector<double> seconds;      ///< of the steps of the last profiled run
    int profiled_bucket = -1;
    int bucket = -1;  ///< that ran last
    std::atomic<bool> running{false};

    void run(const RunOptions& options);
    OutputView output(std::size_t index) const;
    void rewind(std::string_view symbol, std::int64_t length);
    /// Itself, unless it runs: what may be changed now. Throws Busy from inside a run, whose sinks are the caller's
    /// code.
    Instance& idle(std::string_view part);
    /// Touches arena and states for these sizes, whatever bucket they fall into.
    void reserve();
    /// The bucket that is for the sizes set.
    int pick_bucket() const;
    SizeSlot& size(std::string_view name);
    const device::Arena& arena() const noexcept { return arena_; }
    device::Arena& arena() noexcept { return arena_; }

private:
    void check_inputs() const;
    /// Sizes, memory and pointers of a bucket's frame for what is set now.
    Frame& prepare(int bucket);
    void check_states(const Frame& frame) const;
    void check_soundness() const;
    void touch_states(const Frame& frame);
    void settle_outputs(const Frame& frame, int bucket);
    void point(Frame& frame, int bucket);
    void execute(Frame& frame, const RunOptions& options);
    void note_damage(const Frame& frame, const Region& region);
    void commit(const Frame& frame);

    std::vector<std::unique_ptr<Frame>> frames_;
    std::vector<CallerOutputs> caller_outputs_;             // one a bucket
    std::vector<ByteRange> input_memory_;                   // scratch
    std::vector<std::vector<std::byte*>> bases_;            // scratch, one a bucket
    std::vector<std::vector<std::int64_t>> symbol_values_;  // scratch, one a bucket
    device::Arena arena_;
    device::TeamState team_;
};

}  // namespace cairn::inline v0::runtime
