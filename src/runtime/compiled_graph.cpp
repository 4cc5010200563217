#include "runtime/compiled_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace cairn::inline v0 {
namespace {

using runtime::InputSlot;

/// Copies strided memory to dense memory, row-major.
void densify(const InputView& view, std::vector<std::byte>& dense) {
    const std::size_t element = size_of(view.dtype);
    std::size_t count = 1;
    for (const std::int64_t size : view.shape) count *= static_cast<std::size_t>(size);
    dense.resize(count * element);
    std::vector<std::int64_t> index(view.shape.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t at = 0;
        for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * view.strides[axis];
        std::memcpy(dense.data() + i * element,
                    static_cast<const std::byte*>(view.data) + at * static_cast<std::int64_t>(element), element);
        for (std::size_t axis = index.size(); axis-- > 0;) {
            if (++index[axis] < view.shape[axis]) break;
            index[axis] = 0;
        }
    }
}

std::size_t input_index(const runtime::Instance& instance, std::string_view name) {
    const auto& ports = instance.core->set.inputs;
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].name == name) return i;
    throw Error(ErrorKind::argument, "set", fmt::format("there is no input called \"{}\"", name));
}

std::size_t output_index(const runtime::Instance& instance, std::string_view name, std::string_view part) {
    const auto& ports = instance.core->set.buckets[0].program.outputs;
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].name == name) return i;
    throw Error(ErrorKind::argument, part, fmt::format("there is no output called \"{}\"", name));
}

void set_size(runtime::Instance& instance, runtime::SizeSlot& slot, std::int64_t value) {
    if (slot.is_state_length && value != slot.value)
        throw Error(
            ErrorKind::argument, "set",
            fmt::format("{} is the length of a state and {} now; rewind() sets it back", slot.name, slot.value));
    if (value < slot.low || value > slot.high)
        throw Error(ErrorKind::argument, "set",
                    fmt::format("{} = {} is not in {}..{}", slot.name, value, slot.low, slot.high));
    slot.value = value;
    slot.set = true;
    instance.bucket = -1;
}

/// Lets sizes be tried out: what was set before comes back with its end.
class SizeOverride {
public:
    explicit SizeOverride(runtime::Instance& instance) : instance_(instance) {
        for (const runtime::SizeSlot& slot : instance.sizes) before_.push_back(slot.value);
    }
    ~SizeOverride() {
        for (std::size_t i = 0; i < before_.size(); ++i) instance_.sizes[i].value = before_[i];
    }
    SizeOverride(const SizeOverride&) = delete;
    SizeOverride& operator=(const SizeOverride&) = delete;

    void set(std::string_view name, std::int64_t value) const {
        runtime::SizeSlot& slot = instance_.size(name);
        if (value < slot.low || value > slot.high)
            throw Error(ErrorKind::argument, "sizes",
                        fmt::format("{} = {} is not in {}..{}", name, value, slot.low, slot.high));
        slot.value = value;
    }

private:
    runtime::Instance& instance_;
    std::vector<std::int64_t> before_;
};

}  // namespace

void OutputView::check(std::size_t size, bool floating) const {
    const bool same = size == size_of(dtype) && floating == (dtype == DType::f32 || dtype == DType::f64);
    if (!same) throw Error(ErrorKind::argument, "output", fmt::format("its elements are {}", to_string(dtype)));
}

CompiledGraph::CompiledGraph(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
CompiledGraph::CompiledGraph(CompiledGraph&&) noexcept = default;
CompiledGraph& CompiledGraph::operator=(CompiledGraph&&) noexcept = default;
CompiledGraph::~CompiledGraph() = default;

void CompiledGraph::bind(const WeightSource& source, const ProgressSink& progress, std::stop_token stop) {
    runtime::Core& core = *state_->instance.core;
    if (core.bound.ready() && !core.needs_weights) return;
    if (core.bound.ready())
        throw Error(ErrorKind::argument, "bind", "the weights are bound already; compile or load again for others");
    std::vector<const runtime::LinkedProgram*> programs;
    for (const auto& program : core.programs) programs.push_back(program.get());
    core.bound.bind(programs, *core.context.parts(), source, progress, stop);
}

void CompiledGraph::set(std::string_view input, const void* data, std::span<const std::int64_t> shape) {
    runtime::Instance& instance = state_->instance;
    const std::size_t i = input_index(instance, input);
    const program::Port& port = instance.core->set.inputs[i];
    InputSlot& slot = instance.inputs[i];
    if (shape.size() != port.desc.shape.size())
        throw Error(ErrorKind::argument, "set",
                    fmt::format("input \"{}\" is {}, got {} axes", input, to_string(port.desc), shape.size()));
    bool empty = false;
    for (const std::int64_t size : shape) empty = empty || size == 0;
    if (data == nullptr && !empty)
        throw Error(ErrorKind::argument, "set", fmt::format("input \"{}\" has no data", input));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (const Dim& size = port.desc.shape[axis]; size.is_constant() && size.constant() != shape[axis])
            throw Error(
                ErrorKind::argument, "set",
                fmt::format("input \"{}\" is {}, got {} on axis {}", input, to_string(port.desc), shape[axis], axis));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (const std::string_view symbol = port.desc.shape[axis].symbol(); !symbol.empty())
            set_size(instance, instance.size(symbol), shape[axis]);
    std::copy(shape.begin(), shape.end(), slot.shape.begin());
    slot.data = data;
    slot.set = true;
    slot.held = {};
}

void CompiledGraph::set(std::string_view input, const void* data, std::initializer_list<std::int64_t> shape) {
    set(input, data, std::span<const std::int64_t>(shape.begin(), shape.size()));
}

void CompiledGraph::set(std::string_view input, const InputView& view) {
    runtime::HeldView held(view);
    runtime::Instance& instance = state_->instance;
    const std::size_t i = input_index(instance, input);
    const program::Port& port = instance.core->set.inputs[i];
    if (view.dtype != port.desc.dtype)
        throw Error(ErrorKind::argument, "set",
                    fmt::format("input \"{}\" is {}, got {}", input, to_string(port.desc), to_string(view.dtype)));
    if (view.device != Device::cpu)
        throw Error(ErrorKind::unsupported, "set", fmt::format("input \"{}\" is not in host memory", input));
    if (!view.strides.empty() && view.strides.size() != view.shape.size())
        throw Error(
            ErrorKind::argument, "set",
            fmt::format("input \"{}\" has {} axes and {} strides", input, view.shape.size(), view.strides.size()));
    std::int64_t expected = 1;
    bool dense = true;
    for (std::size_t axis = view.strides.size(); axis-- > 0;) {
        dense = dense && (view.shape[axis] == 1 || view.strides[axis] == expected);
        expected *= view.shape[axis];
    }
    InputSlot& slot = instance.inputs[i];
    if (!dense) densify(view, slot.copy);
    set(input, dense ? view.data : slot.copy.data(), view.shape);
    if (dense) slot.held = std::move(held);
}

void CompiledGraph::set(std::string_view symbol, std::int64_t value) {
    set_size(state_->instance, state_->instance.size(symbol), value);
}

void CompiledGraph::set_output(std::string_view output, void* data, std::size_t bytes) {
    runtime::Instance& instance = state_->instance;
    instance.outputs[output_index(instance, output, "set_output")] = {data, data == nullptr ? 0 : bytes};
    instance.bucket = -1;
}

void CompiledGraph::run(const RunOptions& options) { state_->instance.run(options); }

OutputView CompiledGraph::output(std::string_view name) const {
    return state_->instance.output(output_index(state_->instance, name, "output"));
}

void CompiledGraph::rewind(std::string_view symbol, std::int64_t length) { state_->instance.rewind(symbol, length); }

CompiledGraph CompiledGraph::instance() const { return CompiledGraph(std::make_unique<State>(state_->instance.core)); }

MemoryReport CompiledGraph::memory() const { return runtime::memory_report(*state_->instance.core); }

MemoryReport CompiledGraph::memory(std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes) const {
    runtime::Instance& instance = state_->instance;
    const SizeOverride scope(instance);
    for (runtime::SizeSlot& slot : instance.sizes) slot.value = slot.high;
    for (const auto& [name, value] : sizes) scope.set(name, value);
    std::vector<std::int64_t> values;
    for (const runtime::SizeSlot& slot : instance.sizes) values.push_back(slot.value);
    return runtime::memory_report(*instance.core, instance.pick_bucket(), values);
}

void CompiledGraph::reserve(std::span<const std::pair<std::string_view, std::int64_t>> sizes) {
    runtime::Instance& instance = state_->instance;
    const SizeOverride scope(instance);
    for (const auto& [name, value] : sizes) scope.set(name, value);
    instance.reserve();
    instance.bucket = -1;
}

std::string CompiledGraph::explain() const {
    std::string text;
    for (const runtime::BucketProgram& bucket : state_->instance.core->set.buckets) {
        text += "bucket";
        for (const runtime::Range& range : bucket.ranges)
            text += fmt::format(" {} in {}..{}", range.symbol, range.low, range.high);
        text += '\n' + bucket.explanation;
    }
    return text;
}

std::vector<InstructionProfile> CompiledGraph::profile() const {
    const runtime::Instance& instance = state_->instance;
    std::vector<InstructionProfile> rows;
    const int bucket = instance.bucket >= 0 ? instance.bucket : instance.profiled_bucket;
    if (bucket < 0) return rows;
    const auto& run = instance.core->set.buckets[static_cast<std::size_t>(bucket)].program.run;
    for (std::size_t i = 0; i < run.size(); ++i) {
        const bool timed = bucket == instance.profiled_bucket && i < instance.seconds.size();
        rows.push_back({run[i].kernel, to_string(run[i].problem), timed ? instance.seconds[i] : 0, run[i].seconds});
    }
    return rows;
}

std::string CompiledGraph::program() const { return runtime::to_string(state_->instance.core->set); }

std::int64_t CompiledGraph::arena_bytes_touched() const {
    return static_cast<std::int64_t>(state_->instance.arena().touched_bytes());
}

CompiledGraph runtime::make_compiled_graph(const Context& context, ProgramSet set) {
    return CompiledGraph(std::make_unique<CompiledGraph::State>(std::make_shared<Core>(context, std::move(set))));
}

}  // namespace cairn::inline v0
