#include "runtime/instance.hpp"

#include "program/lifetimes.hpp"
#include "runtime/run_fault.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::runtime {
namespace {

using program::Buffer;
using program::BufferKind;
using program::Program;

/// Marks the instance as running while it lives.
class RunningMark {
public:
    explicit RunningMark(std::atomic<bool>& running) : running_(running) {
        if (running.exchange(true, std::memory_order_acquire)) throw Busy("run");
    }
    ~RunningMark() { running_.store(false, std::memory_order_release); }
    RunningMark(const RunningMark&) = delete;
    RunningMark& operator=(const RunningMark&) = delete;

private:
    std::atomic<bool>& running_;
};

/// A run that the caller follows.
struct Followed {
    const RunOptions* options;
    std::int64_t total;

    static bool should_stop(void* self) { return static_cast<Followed*>(self)->options->stop.stop_requested(); }
    static void progress(void* self, std::int64_t done) {
        const Followed& run = *static_cast<Followed*>(self);
        run.options->progress({"run", done, run.total, {}, 0});
    }
};

std::size_t index_of(const std::vector<program::Port>& ports, std::string_view name) {
    return static_cast<std::size_t>(
        std::find_if(ports.begin(), ports.end(), [&](const auto& port) { return port.name == name; }) - ports.begin());
}

}  // namespace

Core::Core(const Context& given, ProgramSet given_set, const std::stop_token& stop)
    : context(given), set(std::move(given_set)) {
    const std::vector<Symbols::Symbol> all = set.symbols->list();
    for (const BucketProgram& bucket : set.buckets) {
        programs.push_back(std::make_unique<LinkedProgram>(bucket.program, context, stop));
        auto& positions = symbol_of.emplace_back();
        for (const Symbols::Symbol& symbol : bucket.program.symbols->list()) {
            const auto it =
                std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == symbol.name; });
            if (it == all.end()) throw InternalError("program", "symbol " + symbol.name + " is not among the graph's");
            positions.push_back(static_cast<int>(it - all.begin()));
        }
    }
    needs_weights = std::any_of(set.buckets.begin(), set.buckets.end(), [](const BucketProgram& bucket) {
        return std::any_of(bucket.program.buffers.begin(), bucket.program.buffers.end(),
                           [](const Buffer& b) { return b.kind == BufferKind::weight; });
    });
    if (needs_weights) return;
    std::vector<const LinkedProgram*> linked;
    for (const auto& program : programs) linked.push_back(program.get());
    bound.bind(linked, *context.parts(), {}, {}, stop);
}

Instance::Instance(std::shared_ptr<Core> given)
    : core(std::move(given)), team_(core->context.threads(), core->context.parts()->pool.spin()) {
    for (const Symbols::Symbol& symbol : core->set.symbols->list())
        sizes.push_back({symbol.name, symbol.low, symbol.high, symbol.low, symbol.low == symbol.high, false});
    std::int64_t arena_bytes = 0;
    for (std::size_t b = 0; b < core->programs.size(); ++b) {
        const Program& program = core->set.buckets[b].program;
        frames_.push_back(std::make_unique<Frame>(*core->programs[b]));
        caller_outputs_.emplace_back(program);
        bases_.emplace_back(program.buffers.size());
        const program::Peak& peak = core->programs[b]->peak();
        symbol_values_.push_back(peak.at);
        frames_.back()->resize(peak.at);
        arena_bytes = std::max(arena_bytes, peak.bytes);
        for (const program::StatePort& state : program.states)
            for (SizeSlot& slot : sizes)
                if (slot.name == state.before.symbol()) slot.is_state_length = true, slot.set = true;
    }
    static_assert(device::Arena::alignment % program::arena_alignment == 0, "a plan's offsets are aligned at any base");
    arena_ = device::Arena::reserve(static_cast<std::size_t>(arena_bytes));
    const Program& first = core->set.buckets[0].program;
    inputs.resize(core->set.inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].shape.resize(core->set.inputs[i].desc.shape.size());
    input_memory_.resize(inputs.size());
    outputs.resize(first.outputs.size());
    for (const program::StatePort& state : first.states) states.emplace_back(first, state);
}

Instance& Instance::idle(std::string_view part) {
    if (running.load(std::memory_order_relaxed)) throw Busy(part);
    return *this;
}

SizeSlot& Instance::size(std::string_view name) {
    for (SizeSlot& slot : sizes)
        if (slot.name == name) return slot;
    throw Error(ErrorKind::argument, "set", fmt::format("there is no input or symbol called \"{}\"", name));
}

int Instance::pick_bucket() const {
    for (std::size_t b = 0; b < core->set.buckets.size(); ++b) {
        bool fits = true;
        for (const Range& range : core->set.buckets[b].ranges)
            for (const SizeSlot& slot : sizes)
                if (slot.name == range.symbol) fits = fits && slot.value >= range.low && slot.value <= range.high;
        if (fits) return static_cast<int>(b);
    }
    throw InternalError("run", "no bucket covers the sizes set");
}

void Instance::check_inputs() const {
    for (const SizeSlot& slot : sizes)
        if (!slot.set) throw Error(ErrorKind::argument, "run", fmt::format("the size {} is not set", slot.name));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const program::Port& port = core->set.inputs[i];
        if (!inputs[i].set) throw Error(ErrorKind::argument, "run", fmt::format("input \"{}\" is not set", port.name));
        for (std::size_t axis = 0; axis < inputs[i].shape.size(); ++axis) {
            const Dim& size = port.desc.shape[axis];
            std::int64_t wanted = 0;
            if (const std::string_view symbol = size.symbol(); !symbol.empty()) {
                for (const SizeSlot& slot : sizes)
                    if (slot.name == symbol) wanted = slot.value;
            } else {
                std::int64_t values[64] = {};
                if (sizes.size() > std::size(values))
                    throw Error(ErrorKind::unsupported, "run", "more than 64 symbols");
                for (std::size_t s = 0; s < sizes.size(); ++s) values[s] = sizes[s].value;
                wanted = size.evaluate({values, sizes.size()});
            }
            if (inputs[i].shape[axis] != wanted)
                throw Error(ErrorKind::argument, "run",
                            fmt::format("input \"{}\" has size {} on axis {}, expected {} = {}", port.name,
                                        inputs[i].shape[axis], axis, to_string(size), wanted));
        }
    }
}

void Instance::check_states(const Frame& frame) const {
    const Program& program = frame.program().program();
    for (std::size_t s = 0; s < program.states.size(); ++s) {
        const program::StatePort& state = program.states[s];
        if (state.axis < 0) continue;
        const std::int64_t capacity = states[s].capacity();
        const std::int64_t after = frame.value(frame.program().state_lengths()[s].second);
        if (after > capacity)
            throw Error(ErrorKind::argument, "run",
                        fmt::format("state \"{}\" is full: it would hold {} rows, its capacity is {}", state.name,
                                    after, capacity));
    }
    for (const SizeSlot& slot : sizes)
        if (slot.is_state_length && slot.value > slot.high)
            throw Error(ErrorKind::argument, "run",
                        fmt::format("the states of length {0} are full: {0} is {1}, its bound is {2}", slot.name,
                                    slot.value, slot.high));
}

void Instance::touch_states(const Frame& frame) {
    for (std::size_t s = 0; s < states.size(); ++s)
        states[s].touch(frame.value(frame.program().state_lengths()[s].second));
}

void Instance::point(Frame& frame, int bucket_index) {
    const Program& program = frame.program().program();
    auto& bases = bases_[static_cast<std::size_t>(bucket_index)];
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
        if (program.buffers[b].storage < 0 && program.buffers[b].kind != BufferKind::input &&
            program.buffers[b].kind != BufferKind::state) {
            if (bases[b] == nullptr) bases[b] = core->bound.find(program.buffers[b]);
        } else {
            bases[b] = nullptr;
        }
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        const InputSlot& slot = inputs[index_of(core->set.inputs, program.inputs[i].name)];
        bases[static_cast<std::size_t>(program.inputs[i].view.buffer)] =
            static_cast<std::byte*>(const_cast<void*>(slot.data));
    }
    for (std::size_t s = 0; s < states.size(); ++s)
        bases[static_cast<std::size_t>(program.states[s].buffer)] = states[s].memory.data();
    for (std::size_t o = 0; o < outputs.size(); ++o)
        if (outputs[o].data != nullptr && outputs[o].is_direct)
            bases[static_cast<std::size_t>(program.outputs[o].view.buffer)] = static_cast<std::byte*>(outputs[o].data);
    frame.point(bases, arena_.data());
}

Frame& Instance::prepare(int bucket_index) {
    const auto b = static_cast<std::size_t>(bucket_index);
    Frame& frame = *frames_[b];
    auto& values = symbol_values_[b];
    bool changed = false;
    for (std::size_t s = 0; s < values.size(); ++s) {
        const std::int64_t value = sizes[static_cast<std::size_t>(core->symbol_of[b][s])].value;
        changed = changed || values[s] != value;
        values[s] = value;
    }
    if (changed) frame.resize(values);
    check_states(frame);
    arena_.touch(static_cast<std::size_t>(frame.arena_bytes()));
    touch_states(frame);
    return frame;
}

void Instance::reserve() {
    const int chosen = pick_bucket();
    point(prepare(chosen), chosen);
}

void Instance::execute(Frame& frame, const RunOptions& options) {
    Region region;
    region.steps = frame.steps().data();
    region.count = static_cast<std::int64_t>(frame.steps().size());
    region.alone = frame.alone();
    region.team = &team_;
    if (options.profile) {
        seconds.assign(frame.steps().size(), 0);
        region.seconds = seconds.data();
    }
    Followed followed{&options, region.count};
    region.caller = &followed;
    if (options.stop.stop_possible()) region.should_stop = Followed::should_stop;
    if (options.progress) region.progress = Followed::progress;
    team_.begin();
    try {
        if (frame.is_small())
            device::ThreadPool::run_alone(run_region, &region, &team_.barrier);
        else
            core->context.parts()->pool.run(run_region, &region, &team_.barrier);
    } catch (...) {
        note_damage(frame, region);
        throw;
    }
    if (region.failed < 0 && region.stopped < 0) return;
    note_damage(frame, region);
    throw_fault(region, "run", frame.program().program(), frame.program().program().run);
    throw Cancelled("run");
}

/// What was live and what the region may have begun to overwrite is lost.
void Instance::note_damage(const Frame& frame, const Region& region) {
    const LinkedProgram& linked = frame.program();
    for (const Overwrite& overwrite : linked.overwrites()) {
        if (overwrite.instruction >= region.begun()) continue;
        const auto s = static_cast<std::size_t>(overwrite.state);
        std::int64_t row = 0;
        if (const int grows = states[s].port().axis; grows >= 0) {
            const auto axis = static_cast<std::size_t>(grows);
            const std::int64_t offset =
                frame.value(linked.operands()[static_cast<std::size_t>(overwrite.operand)].offset);
            row = offset / states[s].desc().strides[axis].constant() % states[s].capacity();
            if (row >= frame.value(linked.state_lengths()[s].first)) continue;
        }
        states[s].sound_rows = states[s].damaged ? std::min(states[s].sound_rows, row) : row;
        states[s].damaged = true;
    }
}

void Instance::commit(const Frame& frame) {
    const Program& program = frame.program().program();
    for (std::size_t s = 0; s < program.states.size(); ++s)
        for (SizeSlot& slot : sizes)
            if (slot.name == program.states[s].before.symbol())
                slot.value = frame.value(frame.program().state_lengths()[s].second);
}

void Instance::check_soundness() const {
    for (const StateSlot& state : states) {
        if (!state.damaged) continue;
        std::string rewinding;
        for (const SizeSlot& slot : sizes)
            if (state.port().axis >= 0 && slot.name == state.port().before.symbol() && slot.low <= state.sound_rows)
                rewinding = fmt::format("rewind {} to {} or less, ", slot.name, state.sound_rows);
        throw Error(ErrorKind::argument, "run",
                    fmt::format("a failed run has overwritten parts of state \"{}\": {}give it its contents anew, or "
                                "reset_states() first",
                                state.port().name, rewinding));
    }
}

void Instance::settle_outputs(const Frame& frame, int bucket_index) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::size_t bytes = size_of(core->set.inputs[i].desc.dtype);
        for (const std::int64_t size : inputs[i].shape) bytes *= static_cast<std::size_t>(size);
        input_memory_[i] = {inputs[i].data, bytes};
        if (input_memory_[i].overlaps({arena_.data(), arena_.touched_bytes()}))
            throw Error(ErrorKind::argument, "run",
                        fmt::format("the data of input \"{}\" lies in a result of this object, which the run "
                                    "overwrites: copy it, or let set_output() put the result elsewhere",
                                    core->set.inputs[i].name));
    }
    caller_outputs_[static_cast<std::size_t>(bucket_index)].settle(frame, input_memory_, outputs);
}

void Instance::run(const RunOptions& options) {
    const RunningMark mark(running);
    if (!core->bound.ready()) throw Error(ErrorKind::argument, "run", "the weights are not bound");
    check_soundness();
    if (options.stop.stop_requested()) throw Cancelled("run");
    check_inputs();
    const int chosen = pick_bucket();
    Frame& frame = prepare(chosen);
    const CallerOutputs& caller_outputs = caller_outputs_[static_cast<std::size_t>(chosen)];
    bucket = -1;
    settle_outputs(frame, chosen);
    point(frame, chosen);
    caller_outputs.check_views(frame, outputs);
    if (options.profile) profiled_bucket = -1;
    execute(frame, options);
    caller_outputs.copy(frame, outputs);
    bucket = chosen;
    if (options.profile) profiled_bucket = chosen;
    // Outputs were computed at the sizes before the commit; the frame keeps those until the next run.
    commit(frame);
}

OutputView Instance::output(std::size_t index) const {
    if (bucket < 0) throw Error(ErrorKind::argument, "output", "there was no successful run since the last change");
    const Frame& frame = *frames_[static_cast<std::size_t>(bucket)];
    const TensorArg result = frame.output(index);
    OutputView view;
    view.data = outputs[index].data != nullptr ? outputs[index].data : result.data;
    view.dtype = frame.program().program().outputs[index].desc.dtype;
    view.shape = {result.shape, static_cast<std::size_t>(result.rank)};
    return view;
}

void Instance::rewind(std::string_view symbol, std::int64_t length) {
    SizeSlot& slot = size(symbol);
    if (!slot.is_state_length)
        throw Error(ErrorKind::argument, "rewind", fmt::format("{} is not the length of a state", symbol));
    if (length < slot.low || length > slot.value)
        throw Error(ErrorKind::argument, "rewind",
                    fmt::format("{} is {} now; {} is not in {}..{}", symbol, slot.value, length, slot.low, slot.value));
    slot.value = length;
    for (StateSlot& state : states)
        if (state.port().axis >= 0 && state.port().before.symbol() == symbol && length <= state.sound_rows)
            state.damaged = false;
}

}  // namespace cairn::inline v0::runtime
