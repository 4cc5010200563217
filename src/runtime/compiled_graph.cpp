#include "runtime/compiled_graph.hpp"

#include "graph/types/element_type.hpp"
#include "runtime/input_data.hpp"

#include <fmt/format.h>

namespace cairn::inline v0 {
namespace {

std::size_t output_index(const runtime::Instance& instance, std::string_view name, std::string_view part) {
    const auto& ports = instance.executable->set.buckets[0].program.outputs;
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].name == name) return i;
    throw Error(ErrorKind::argument, part, fmt::format("there is no output called \"{}\"", name));
}

void bind_to(runtime::Executable& executable, const runtime::BindRequest& request) {
    if (executable.bound.ready() && !executable.needs_weights) return;
    executable.bound.bind(executable.programs(), *executable.context.impl(), request);
}

/// Temporary override of an instance's sizes: restores the old values on destruction.
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

void OutputView::check(DType given) const {
    if (device != Device::cpu)
        throw Error(ErrorKind::argument, "output",
                    fmt::format("its elements are in the memory of {}", to_string(device)));
    if (types::is_element_type_of(dtype, given)) return;
    throw Error(ErrorKind::argument, "output",
                fmt::format("its elements are {}, requested as {}", to_string(dtype), types::element_type_text(given)));
}

CompiledGraph::CompiledGraph(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
CompiledGraph::CompiledGraph(CompiledGraph&&) noexcept = default;
CompiledGraph& CompiledGraph::operator=(CompiledGraph&&) noexcept = default;
CompiledGraph::~CompiledGraph() = default;

CompiledGraph::State& CompiledGraph::valid() const {
    if (state_ == nullptr) throw Error(ErrorKind::argument, "compiled graph", "the object is moved-from");
    return *state_;
}

void CompiledGraph::bind(const WeightSource& source, const ProgressSink& progress, std::stop_token stop) {
    bind_to(*valid().instance.executable, {source, nullptr, progress, stop});
}

void CompiledGraph::bind(const WeightSource& source, const PackedFile& packed, const ProgressSink& progress,
                         std::stop_token stop) {
    if (packed.path.empty() || packed.weights.empty())
        throw Error(ErrorKind::argument, "bind", "a packed file needs a path and an identifier of its weights");
    bind_to(*valid().instance.executable, {source, &packed, progress, stop});
}

void CompiledGraph::bind(const Safetensors& weights, const ProgressSink& progress, std::stop_token stop) {
    bind(weights.source(), progress, std::move(stop));
}

void CompiledGraph::bind(const Gguf& weights, const ProgressSink& progress, std::stop_token stop) {
    bind(weights.source(), progress, std::move(stop));
}

void CompiledGraph::set(std::string_view input, const void* data, std::span<const std::int64_t> shape) {
    runtime::set_input(valid().instance.require_idle("set"), input, data, shape);
}

void CompiledGraph::set(std::string_view input, const void* data, std::initializer_list<std::int64_t> shape) {
    set(input, data, std::span<const std::int64_t>(shape.begin(), shape.size()));
}

void CompiledGraph::set(std::string_view input, const InputView& view) {
    runtime::set_input(valid().instance.require_idle("set"), input, view);
}

void CompiledGraph::set_elements(std::string_view input, const detail::ElementSpan& elements,
                                 const std::span<const std::int64_t>* shape) {
    runtime::set_input(valid().instance.require_idle("set"), input, elements, shape);
}

void CompiledGraph::set(std::string_view symbol, std::int64_t value) {
    runtime::set_size(valid().instance.require_idle("set"), symbol, value);
}

void CompiledGraph::set_output(std::string_view output, void* data, std::size_t bytes) {
    runtime::Instance& instance = valid().instance.require_idle("set_output");
    const std::size_t index = output_index(instance, output, "set_output");
    runtime::OutputSlot& slot = instance.outputs[index];
    const program::Program& program = instance.executable->set.buckets[0].program;
    if (data != slot.data)
        runtime::check_memory(*instance.executable->context.impl(), program::device_of(program, program.outputs[index]),
                              data, "set_output", "output", output);
    slot = {data, data == nullptr ? 0 : bytes};
    instance.bucket = -1;
}

void CompiledGraph::set_output_elements(std::string_view output, void* data, const detail::ElementSpan& elements) {
    const runtime::Instance& instance = valid().instance;
    const program::Port& port =
        instance.executable->set.buckets[0].program.outputs[output_index(instance, output, "set_output")];
    runtime::check_dtype("set_output", "output", port.name, port.desc, elements.dtype);
    set_output(output, data, elements.count * size_of(port.desc.dtype));
}

void CompiledGraph::run(const RunOptions& options) { valid().instance.run(options); }

void CompiledGraph::wait() { valid().instance.require_complete("wait"); }

OutputView CompiledGraph::output(std::string_view name) const {
    return valid().instance.output(output_index(valid().instance, name, "output"));
}

void CompiledGraph::rewind(std::string_view symbol, std::int64_t length) {
    valid().instance.require_complete("rewind").rewind(symbol, length);
}

CompiledGraph CompiledGraph::instance() const {
    return CompiledGraph(std::make_unique<State>(valid().instance.executable));
}

MemoryReport CompiledGraph::memory() const { return runtime::memory_report(*valid().instance.executable); }

MemoryReport CompiledGraph::memory(std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes) const {
    return memory(std::span(sizes.begin(), sizes.size()));
}

MemoryReport CompiledGraph::memory(std::span<const std::pair<std::string_view, std::int64_t>> sizes) const {
    runtime::Instance& instance = valid().instance.require_idle("memory");
    const SizeOverride scope(instance);
    for (runtime::SizeSlot& slot : instance.sizes) slot.value = slot.high;
    for (const auto& [name, value] : sizes) scope.set(name, value);
    std::vector<std::int64_t> values;
    for (const runtime::SizeSlot& slot : instance.sizes) values.push_back(slot.value);
    return runtime::memory_report(*instance.executable, instance.pick_bucket(), values);
}

void CompiledGraph::reserve(std::span<const std::pair<std::string_view, std::int64_t>> sizes) {
    runtime::Instance& instance = valid().instance.require_complete("reserve");
    const SizeOverride scope(instance);
    for (const auto& [name, value] : sizes) scope.set(name, value);
    instance.reserve();
    instance.bucket = -1;
}

std::vector<VerifiedError> CompiledGraph::verified_errors() const {
    const runtime::Executable& executable = *valid().instance.executable;
    std::vector<VerifiedError> rows;
    for (std::size_t b = 0; b < executable.buckets.size(); ++b)
        for (VerifiedError& row : runtime::verified_errors_of(executable, b)) rows.push_back(std::move(row));
    return rows;
}

std::vector<InstructionProfile> CompiledGraph::profile() const {
    const runtime::Instance& instance = valid().instance;
    std::vector<InstructionProfile> rows;
    const int bucket = instance.bucket >= 0 ? instance.bucket : instance.profiled_bucket;
    if (bucket < 0) return rows;
    const runtime::LinkedProgram& program = instance.frame(bucket).frame.program();
    const auto& run = program.program().run;
    const runtime::Profile& profile = instance.profile;
    for (std::size_t i = 0; i < run.size(); ++i) {
        const Device device = program.run()[i].kernel->device;
        rows.push_back({run[i].kernel, to_string(*run[i].problem), 0, run[i].seconds, {}, run[i].names, device});
        if (bucket != instance.profiled_bucket || i >= profile.seconds.size()) continue;
        rows.back().seconds = profile.seconds[i];
        const std::size_t members = profile.spans.size() / profile.seconds.size();
        // Other devices fill in the first of them.
        const std::size_t own = device == Device::cpu ? members : 1;
        for (const device::TimeSpan& span : std::span(profile.spans).subspan(i * members, own))
            rows.back().threads.push_back({span.begin, span.end});
    }
    return rows;
}

std::string CompiledGraph::program() const {
    const runtime::Executable& executable = *valid().instance.executable;
    std::vector<bool> fell_back;
    for (const auto& bucket : executable.buckets)
        fell_back.push_back(bucket->status() == runtime::VerificationStatus::failed);
    return runtime::to_string(executable.set, fell_back);
}

std::int64_t CompiledGraph::arena_bytes_touched() const {
    return static_cast<std::int64_t>(valid().instance.arena().bytes);
}

}  // namespace cairn::inline v0

namespace cairn::runtime {

std::vector<VerifiedError> verified_errors_of(const Executable& executable, std::size_t b) {
    std::vector<VerifiedError> rows;
    const BucketProgram& bucket = executable.set.buckets[b];
    const std::vector<double> errors = executable.buckets[b]->errors();
    const bool fell_back = executable.buckets[b]->status() == VerificationStatus::failed;
    for (std::size_t v = 0; v < bucket.inexact.size(); ++v) {
        const InexactValue& value = bucket.inexact[v];
        const auto port = static_cast<std::size_t>(value.port);
        const std::string name = value.is_state ? fmt::format("state \"{}\"", bucket.program.states[port].name)
                                                : fmt::format("output \"{}\"", bucket.program.outputs[port].name);
        rows.push_back({to_string(bucket.ranges), name, value.allowed, value.expected, !errors.empty(),
                        errors.empty() ? 0 : errors[v], fell_back});
    }
    return rows;
}

CompiledGraph make_compiled_graph(const Context& context, ProgramSet set, const std::stop_token& stop) {
    return CompiledGraph(
        std::make_unique<CompiledGraph::State>(std::make_shared<Executable>(context, std::move(set), stop)));
}

}  // namespace cairn::runtime
