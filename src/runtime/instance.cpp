#include "runtime/instance.hpp"

#include "program/plan_memory.hpp"
#include "runtime/run_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace cairn::runtime {
namespace {

using program::Buffer;
using program::BufferKind;
using program::Program;

// Number of bytes from which touching pages with several threads pays off.
constexpr std::size_t min_parallel_bytes = std::size_t{4} << 20;

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

/// Adapter of RunOptions to the callbacks of a Submission.
struct RunCallbacks {
    const RunOptions* options;
    std::string_view phase;
    std::int64_t total;

    static bool should_stop(void* self) { return static_cast<RunCallbacks*>(self)->options->stop.stop_requested(); }
    static void progress(void* self, std::int64_t done) {
        const RunCallbacks& run = *static_cast<RunCallbacks*>(self);
        run.options->progress({run.phase, done, run.total, {}, 0});
    }
};

/// The time of each launch: from the end of the launch before to the end of its last thread. The time at which rank 0
/// leaves a barrier would not do: it may still be asleep while other threads run the next launch.
std::vector<double> seconds_of(std::span<const device::TimeSpan> spans, std::size_t launches) {
    std::vector<double> seconds(launches, 0);
    const std::size_t threads = launches == 0 ? 0 : spans.size() / launches;
    double before = 0;
    for (std::size_t i = 0; i < launches; ++i) {
        double end = before;
        for (const device::TimeSpan& span : spans.subspan(i * threads, threads)) end = std::max(end, span.end);
        seconds[i] = end - std::exchange(before, end);
    }
    return seconds;
}

std::size_t index_of(const std::vector<InputPort>& ports, std::string_view name) {
    return static_cast<std::size_t>(
        std::find_if(ports.begin(), ports.end(), [&](const auto& port) { return port.name == name; }) - ports.begin());
}

/// The backend of the caller's stream; null if there is none.
const device::Backend* streaming_backend(const Context::Impl& context, const RunOptions& options) {
    if (!options.stream) return nullptr;
    const Device device = options.stream->device;
    const device::Backend* const backend = device == Device::cpu ? nullptr : context.opened(device);
    if (backend == nullptr)
        throw Error(ErrorKind::argument, "run",
                    fmt::format("the stream is one of {}, which is no GPU of this Context", to_string(device)));
    return backend;
}

}  // namespace

Executable::Executable(const Context& given, ProgramSet given_set, const std::stop_token& stop)
    : context(given), set(std::move(given_set)), has_narrow_states(stores_narrow_states(set.buckets[0].program)) {
    const std::vector<Symbols::Symbol> all = set.symbols->list();
    CompiledCodes codes;
    for (const BucketProgram& bucket : set.buckets) {
        buckets.push_back(std::make_unique<BucketPrograms>(bucket, context, codes, stop));
        auto& positions = symbol_of.emplace_back();
        for (const Symbols::Symbol& symbol : bucket.program.symbols->list()) {
            const auto it =
                std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == symbol.name; });
            if (it == all.end()) throw InternalError("program", "symbol " + symbol.name + " is not among the graph's");
            positions.push_back(static_cast<int>(it - all.begin()));
        }
    }
    // Kernels that several buckets have are compiled once.
    codes.compile(*context.impl(), &set.binaries, stop);
    for (const std::unique_ptr<BucketPrograms>& bucket : buckets) bucket->take_codes(codes);
    set.binaries.finish();
    for (const std::shared_ptr<BoundProgram>& program : programs())
        for (const Buffer& buffer : program->linked.program().buffers)
            needs_weights = needs_weights || buffer.kind == BufferKind::weight;
    for (const std::shared_ptr<BoundProgram>& program : programs())
        update_maximum(arena_bytes, program->linked.peak_bytes());
    if (!needs_weights) bound.bind(programs(), *context.impl(), {{}, nullptr, {}, stop});
}

std::vector<std::shared_ptr<BoundProgram>> Executable::programs() const {
    std::vector<std::shared_ptr<BoundProgram>> all;
    for (const std::unique_ptr<BucketPrograms>& bucket : buckets) all.push_back(bucket->active());
    for (const std::unique_ptr<BucketPrograms>& bucket : buckets)
        if (std::shared_ptr<BoundProgram> reference_program = bucket->reference_program())
            all.push_back(std::move(reference_program));
    return all;
}

void Executable::fall_back() {
    // Set before the status changes: a run that gets no reference program then sees this flag.
    states_fell_back.store(true, std::memory_order_release);
    for (const std::unique_ptr<BucketPrograms>& bucket : buckets) bucket->fall_back();
}

bool Executable::resolve(std::size_t bucket, std::shared_ptr<BoundProgram> exact, std::span<const double> errors) {
    if (has_narrow_states && !buckets[bucket]->within_tolerance(errors)) fall_back();
    try {
        if (set.verification_sink) set.verification_sink(set.buckets[bucket], errors);
    } catch (...) {  // a record that cannot be kept is no fault of the run
    }
    return buckets[bucket]->resolve(std::move(exact), errors);
}

static_assert(device::Memory::alignment % program::arena_alignment == 0, "a plan's offsets are aligned at any base");

Instance::Instance(std::shared_ptr<Executable> given)
    : executable(std::move(given)),
      solver(executable->set),
      arenas_(context(), executable->arena_bytes, device::MemoryUse::arena) {
    for (const Symbols::Symbol& symbol : executable->set.symbols->list())
        sizes.push_back({symbol.name, symbol.low, symbol.high, symbol.low, symbol.low == symbol.high, false});
    for (std::size_t b = 0; b < executable->buckets.size(); ++b) {
        const bool is_fallback =
            executable->buckets[b]->status() == VerificationStatus::failed && !executable->has_narrow_states;
        frames_.push_back(std::make_unique<BucketFrame>(executable->buckets[b]->active(), context()));
        frames_.back()->is_fallback = is_fallback;
        for (const program::StatePort& state : executable->set.buckets[b].program.states)
            for (SizeSlot& slot : sizes)
                if (slot.name == state.before.symbol()) slot.is_state_length = true, slot.set = true;
    }
    sizes_before_pending_.resize(sizes.size());
    const Program& first = executable->set.buckets[0].program;
    inputs.resize(executable->set.inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].shape.resize(executable->set.inputs[i].desc.shape.size());
    input_memory_.resize(inputs.size());
    outputs.resize(first.outputs.size());
    for (const program::StatePort& state : first.states) states.emplace_back(first, state, context());
}

Instance::~Instance() {
    // The work uses the arenas and states, which are freed next.
    if (pending_) {
        device::Submission ignored;
        pending_->frame->frame.commands().wait(ignored);
    }
}

Instance& Instance::require_idle(std::string_view part) {
    if (running.load(std::memory_order_relaxed)) throw Busy(part);
    return *this;
}

Instance& Instance::require_complete(std::string_view part) {
    require_idle(part).wait();
    return *this;
}

SizeSlot& Instance::size(std::string_view name) {
    for (SizeSlot& slot : sizes)
        if (slot.name == name) return slot;
    throw Error(ErrorKind::argument, "set", fmt::format("there is no input or symbol called \"{}\"", name));
}

int Instance::pick_bucket() const {
    for (std::size_t b = 0; b < executable->set.buckets.size(); ++b) {
        bool fits = true;
        for (const Range& range : executable->set.buckets[b].ranges)
            for (const SizeSlot& slot : sizes)
                if (slot.name == range.symbol) fits = fits && slot.value >= range.low && slot.value <= range.high;
        if (fits) return static_cast<int>(b);
    }
    throw InternalError("run", "no bucket covers the sizes set");
}

void Instance::derive_sizes() {
    for (SizeSlot& slot : sizes) slot.derived = false;
    if (std::all_of(sizes.begin(), sizes.end(), [](const SizeSlot& slot) { return slot.set; })) return;
    solver.begin();
    for (std::size_t s = 0; s < sizes.size(); ++s)
        if (sizes[s].set) solver.set_known(s, sizes[s].value);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t axis = 0; inputs[i].set && axis < inputs[i].shape.size(); ++axis)
            solver.add(given_size(executable->set.inputs[i], static_cast<int>(axis), inputs[i].shape[axis]));
    if (const std::string fault = solver.solve(); !fault.empty()) throw Error(ErrorKind::argument, "run", fault);
    for (std::size_t s = 0; s < sizes.size(); ++s)
        if (!sizes[s].set && solver.is_known(s)) sizes[s].value = solver.value(s), sizes[s].derived = true;
}

void Instance::check_inputs() {
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        if (sizes[s].set || sizes[s].derived) continue;
        const std::string why = solver.ambiguity(s);
        throw Error(ErrorKind::argument, "run",
                    fmt::format("the size {} is not set{}{}", sizes[s].name, why.empty() ? "" : ": ", why));
    }
    solver.begin();
    for (std::size_t s = 0; s < sizes.size(); ++s) solver.set_known(s, sizes[s].value);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const program::Port& port = executable->set.inputs[i];
        if (!inputs[i].set) throw Error(ErrorKind::argument, "run", fmt::format("input \"{}\" is not set", port.name));
        for (std::size_t axis = 0; axis < inputs[i].shape.size(); ++axis) {
            const Dim& size = port.desc.shape[axis];
            const std::int64_t wanted = size.evaluate(solver.values());
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
    const auto rows = [&](std::size_t s) { return frame.value(frame.program().state_lengths()[s].second); };
    std::size_t bytes = 0;
    for (std::size_t s = 0; s < states.size(); ++s) bytes += states[s].untouched_bytes(rows(s));
    auto touch = [&](int rank, int size) {
        for (auto s = static_cast<std::size_t>(rank); s < states.size(); s += static_cast<std::size_t>(size))
            states[s].touch(rows(s));
    };
    device::HostThreads& threads = context().cpu->host_threads();
    if (bytes == 0) return;
    if (bytes < min_parallel_bytes || threads.size() == 1) return touch(0, 1);
    threads.run([](void* work, int rank, int size) { (*static_cast<decltype(touch)*>(work))(rank, size); }, &touch);
}

void Instance::set_pointers(BucketFrame& target, std::span<const StateSlot> state_slots,
                            std::span<const OutputSlot> output_slots, const Arenas& arenas) const {
    const Program& program = target.frame.program().program();
    auto& bases = target.bases;
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
        if (program.buffers[b].storage < 0 && program.buffers[b].kind != BufferKind::input &&
            program.buffers[b].kind != BufferKind::state) {
            if (bases[b] == nullptr) bases[b] = target.program->memory.find(program.buffers[b]);
        } else {
            bases[b] = nullptr;
        }
    for (const program::Port& port : program.inputs) {
        const InputSlot& slot = inputs[index_of(executable->set.inputs, port.name)];
        bases[static_cast<std::size_t>(port.view.buffer)] = static_cast<std::byte*>(const_cast<void*>(slot.data));
    }
    for (std::size_t s = 0; s < state_slots.size(); ++s)
        bases[static_cast<std::size_t>(program.states[s].buffer)] = state_slots[s].memory->data();
    for (std::size_t o = 0; o < output_slots.size(); ++o)
        if (output_slots[o].data != nullptr && output_slots[o].is_direct)
            bases[static_cast<std::size_t>(program.outputs[o].view.buffer)] =
                static_cast<std::byte*>(output_slots[o].data);
    target.frame.set_pointers(bases, arenas.bases());
}

BucketFrame& Instance::frame_of(int bucket_index) {
    const auto b = static_cast<std::size_t>(bucket_index);
    if (must_fall_back(b) && !frames_[b]->is_fallback) {
        const BucketPrograms& programs = *executable->buckets[b];
        auto exact = std::make_unique<BucketFrame>(executable->has_narrow_states ? programs.exact() : programs.active(),
                                                   context());
        exact->is_fallback = true;
        frames_[b] = std::move(exact);
        if (bucket == bucket_index) bucket = -1;
        if (profiled_bucket == bucket_index) profiled_bucket = -1;
    }
    return *frames_[b];
}

bool Instance::must_fall_back(std::size_t b) const {
    if (!executable->has_narrow_states) return executable->buckets[b]->status() == VerificationStatus::failed;
    return std::none_of(states.begin(), states.end(), [](const StateSlot& slot) { return slot.is_stored_narrow(); });
}

void Instance::widen_states() {
    const Program& exact = *executable->set.buckets[0].exact;
    std::vector<StateSlot> widened;
    for (std::size_t s = 0; s < states.size(); ++s) {
        StateSlot& slot = widened.emplace_back(exact, exact.states[s], context());
        std::int64_t rows = 0;
        for (const SizeSlot& size : sizes)
            if (slot.port().axis >= 0 && size.name == slot.port().before.symbol()) rows = size.value;
        slot.copy(states[s], rows);
    }
    for (std::size_t s = 0; s < states.size(); ++s) states[s].swap_memory(widened[s]);
    bucket = -1;
}

void Instance::resize(BucketFrame& target, int bucket_index) const {
    auto& values = target.symbol_values;
    bool changed = false;
    for (std::size_t s = 0; s < values.size(); ++s) {
        const auto symbol = static_cast<std::size_t>(executable->symbol_of[static_cast<std::size_t>(bucket_index)][s]);
        changed = changed || values[s] != sizes[symbol].value;
        values[s] = sizes[symbol].value;
    }
    if (changed) target.frame.resize(values);
}

BucketFrame& Instance::prepare(int bucket_index) {
    BucketFrame& target = frame_of(bucket_index);
    resize(target, bucket_index);
    check_states(target.frame);
    arenas_.touch(target.frame.arena_bytes());
    touch_states(target.frame);
    return target;
}

void Instance::reserve() { set_pointers(prepare(pick_bucket()), states, outputs, arenas_); }

bool Instance::may_follow_pending(int bucket_index) const {
    const auto b = static_cast<std::size_t>(bucket_index);
    return pending_->frame == frames_[b].get() && !executable->has_narrow_states &&
           (frames_[b]->is_fallback || !must_fall_back(b)) && frames_[b]->frame.commands().is_one_segment();
}

bool Instance::may_return_early(const RunOptions& options) const {
    return !options.wait && !options.profile && !options.progress && !executable->has_narrow_states &&
           std::all_of(outputs.begin(), outputs.end(),
                       [](const OutputSlot& slot) { return slot.data == nullptr || slot.is_direct; });
}

void Instance::execute(Frame& frame, const RunOptions& options, bool wait, std::string_view phase,
                       device::Submission& submission) {
    if (options.stream) submission.stream_options.stream = options.stream->handle;
    submission.stream_options.wait = wait;
    const std::size_t count = frame.launches().size();
    if (options.profile) {
        profile.spans.assign(count * static_cast<std::size_t>(frame.commands().threads()), {});
        submission.spans = profile.spans.data();
    }
    RunCallbacks callbacks{&options, phase, static_cast<std::int64_t>(count)};
    submission.caller = &callbacks;
    if (options.stop.stop_possible()) submission.should_stop = RunCallbacks::should_stop;
    if (options.progress) submission.progress = RunCallbacks::progress;
    frame.commands().run(submission, streaming_backend(context(), options));
    if (options.profile) profile.seconds = seconds_of(profile.spans, count);
    const Program& program = frame.program().program();
    throw_fault(submission, frame.launches(), "run", program, program.run);
    if (submission.stopped >= 0) throw Cancelled("run");
}

void Instance::note_damage(const Frame& frame, const device::Submission& submission, int runs) {
    const LinkedProgram& linked = frame.program();
    for (const Overwrite& overwrite : linked.overwrites()) {
        if (overwrite.instruction >= submission.begun()) continue;
        const auto s = static_cast<std::size_t>(overwrite.state);
        std::int64_t row = 0;  // also of several runs, which may have overwritten different rows
        if (const int grows = states[s].port().axis; grows >= 0 && runs == 1) {
            const auto axis = static_cast<std::size_t>(grows);
            const std::int64_t offset =
                frame.value(linked.operands()[static_cast<std::size_t>(overwrite.operand)].offset);
            row = offset / states[s].desc().strides[axis].constant() % states[s].capacity();
            if (row >= frame.value(linked.state_lengths()[s].first)) continue;
        }
        states[s].intact_rows = states[s].damaged ? std::min(states[s].intact_rows, row) : row;
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

void Instance::check_state_integrity() const {
    for (const StateSlot& state : states) {
        if (!state.damaged) continue;
        std::string rewinding;
        for (const SizeSlot& slot : sizes)
            if (state.port().axis >= 0 && slot.name == state.port().before.symbol() && slot.low <= state.intact_rows)
                rewinding = fmt::format("rewind {} to {} or less, ", slot.name, state.intact_rows);
        throw Error(ErrorKind::argument, "run",
                    fmt::format("a failed run has overwritten parts of state \"{}\": {}set its contents again, or "
                                "reset_states() first",
                                state.port().name, rewinding));
    }
}

void Instance::resolve_outputs(const BucketFrame& target) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::size_t bytes = size_of(executable->set.inputs[i].desc.dtype);
        for (const std::int64_t size : inputs[i].shape) bytes *= static_cast<std::size_t>(size);
        input_memory_[i] = {inputs[i].data, bytes};
        if (input_memory_[i].overlaps(arenas_.touched(executable->set.inputs[i].device)))
            throw Error(ErrorKind::argument, "run",
                        fmt::format("the data of input \"{}\" overlaps a result of this object, which the run "
                                    "overwrites: copy it, or let set_output() put the result elsewhere",
                                    executable->set.inputs[i].name));
    }
    target.caller_outputs.resolve(target.frame, input_memory_, outputs);
}

void Instance::run(const RunOptions& options) {
    const RunningMark mark(running);
    if (!executable->bound.ready()) throw Error(ErrorKind::argument, "run", "the weights are not bound");
    streaming_backend(context(), options);
    if (options.stop.stop_requested()) throw Cancelled("run");
    derive_sizes();
    check_inputs();
    const int active = pick_bucket();
    std::shared_ptr<BoundProgram> reference_program =
        executable->buckets[static_cast<std::size_t>(active)]->reference_program();
    if (pending_ && (reference_program != nullptr || !may_follow_pending(active))) wait();
    check_state_integrity();
    if (executable->states_fell_back.load(std::memory_order_acquire) &&
        !must_fall_back(static_cast<std::size_t>(active)))
        widen_states();
    BucketFrame& first = prepare(active);
    bucket = -1;
    resolve_outputs(first);
    set_pointers(first, states, outputs, arenas_);
    first.caller_outputs.check_views(first.frame, outputs);
    if (options.profile) profiled_bucket = -1;
    std::unique_ptr<ExactRun> exact;
    if (reference_program != nullptr && !first.is_fallback)
        exact = run_exact(std::move(reference_program), active, options);
    const bool returns_early = exact == nullptr && may_return_early(options);
    bool is_right = run_active(active, options, !returns_early, exact.get());
    if (is_right && exact == nullptr && overflows_storage(first)) {
        // The states have only grown, so the exact program finds their old contents unchanged.
        exact = run_exact(executable->buckets[static_cast<std::size_t>(active)]->exact(), active, options);
        executable->fall_back();
        is_right = false;
    }
    if (!is_right) fall_back(active, *exact);
    BucketFrame& ran = *frames_[static_cast<std::size_t>(active)];
    note_pending(ran);
    ran.caller_outputs.copy(ran.frame, outputs, context());
    bucket = active;
    if (options.profile) profiled_bucket = active;
    // Outputs were computed at the sizes before the commit; the frame keeps those until the next run.
    commit(ran.frame);
}

void Instance::note_pending(BucketFrame& ran) noexcept {
    if (!ran.frame.commands().is_pending()) {
        pending_.reset();  // the run was waited for, and all before it
        return;
    }
    if (!pending_) {
        pending_ = {&ran, 0};
        for (std::size_t s = 0; s < sizes.size(); ++s) sizes_before_pending_[s] = sizes[s].value;
    }
    ++pending_->count;
}

void Instance::settle_pending(device::Submission& outcome) {
    const PendingRuns runs = *std::exchange(pending_, std::nullopt);
    if (outcome.failed < 0 && outcome.thrown == nullptr) return;
    bucket = -1;
    for (std::size_t s = 0; s < sizes.size(); ++s)
        if (sizes[s].is_state_length) sizes[s].value = sizes_before_pending_[s];
    outcome.reached = outcome.count;
    note_damage(runs.frame->frame, outcome, runs.count);
}

void Instance::wait() {
    if (!pending_) return;
    Frame& frame = pending_->frame->frame;
    device::Submission submission;
    frame.commands().wait(submission);
    settle_pending(submission);
    const Program& program = frame.program().program();
    throw_fault(submission, frame.launches(), "run", program, program.run);
}

OutputView Instance::output(std::size_t index) {
    if (bucket < 0) throw Error(ErrorKind::argument, "output", "there was no successful run since the last change");
    const Program& program = frame(bucket).frame.program().program();
    const program::Port& port = program.outputs[index];
    OutputView view;
    view.device = program::device_of(program, port);
    if (view.device == Device::cpu) wait();
    const TensorArg result = frame(bucket).frame.output(index);
    view.data = outputs[index].data != nullptr ? outputs[index].data : result.data;
    view.dtype = port.desc.dtype;
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
        if (state.port().axis >= 0 && state.port().before.symbol() == symbol && length <= state.intact_rows)
            state.damaged = false;
}

}  // namespace cairn::runtime
