#include "autotune/policy/program_runner.hpp"

#include "device/context_impl.hpp"
#include "graph/types/convert_floats.hpp"
#include "runtime/run_fault.hpp"
#include "selection/cost/cost.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cairn::autotune {
namespace {

using program::Buffer;
using program::BufferKind;

/// Fills memory with floats between -1/64 and 1/64 (no sum of them overflows, and few are denormal); integers and
/// booleans are 1, which is valid as an index wherever there are two rows.
void fill_synthetic(device::Memory& memory, std::size_t bytes, DType dtype,
                    const std::function<void()>& check_interrupt) {
    constexpr std::size_t stop_interval = 256;  // patterns between two checks for a stop
    constexpr std::size_t period = 4093;        // prime, so that the rows of a weight are not equal
    std::vector<std::byte> pattern(period * size_of(dtype));
    if (is_float(dtype)) {
        std::vector<double> values;
        for (std::size_t i = 0; i < period; ++i)
            values.push_back((static_cast<double>(i * 2654435761U % 8191) - 4095) / 4095 / 64);
        types::convert_floats(pattern.data(), dtype, reinterpret_cast<const std::byte*>(values.data()), DType::f64,
                              period);
    } else {
        for (std::size_t i = 0; i < pattern.size(); i += size_of(dtype)) pattern[i] = std::byte{1};  // little-endian
    }
    std::size_t filled = 0;
    for (std::size_t at = 0; at < bytes; at += pattern.size()) {
        if (filled++ % stop_interval == 0) {
            check_interrupt();
            memory.touch(0, std::min(at + stop_interval * pattern.size(), memory.capacity()));
        }
        memory.write({at, std::min(pattern.size(), bytes - at)}, pattern.data());
    }
    memory.touch(0, memory.capacity());
}

/// A synthetic weight that owns its memory: it is freed when the last reader releases it.
InputView synthetic_weight(const Buffer& buffer, device::Backend& backend,
                           const std::function<void()>& check_interrupt) {
    std::unique_ptr<device::Memory> memory = backend.reserve(
        static_cast<std::size_t>(std::max<std::int64_t>(buffer.bytes.constant(), 1)), device::MemoryUse::scratch);
    fill_synthetic(*memory, static_cast<std::size_t>(buffer.bytes.constant()), buffer.desc.dtype, check_interrupt);
    InputView view;
    view.data = memory->data();
    view.dtype = buffer.desc.dtype;
    for (const Dim& size : buffer.desc.shape) view.shape.push_back(size.constant());
    view.owner = memory.release();
    view.release = [](void* owner) { delete static_cast<device::Memory*>(owner); };
    return view;
}

/// True if all states have room for the rows after a run.
bool has_room(const program::Program& program, std::span<const std::int64_t> sizes) {
    return std::all_of(program.states.begin(), program.states.end(), [&](const program::StatePort& state) {
        if (state.axis < 0) return true;
        const Shape& shape = program.buffers[static_cast<std::size_t>(state.buffer)].desc.shape;
        return state.after.evaluate(sizes) <= shape[static_cast<std::size_t>(state.axis)].constant();
    });
}

}  // namespace

ProgramRunner::ProgramRunner(std::span<const program::Program* const> programs, const Context& context,
                             const std::stop_token& stop, autotune::Clock::time_point until)
    : context_(context), stop_(stop), until_(until) {
    types::PerDevice<std::int64_t> arena_bytes;
    runtime::CompiledCodes codes;
    for (const program::Program* program : programs) {
        bound_.push_back(std::make_shared<runtime::BoundProgram>(*program, context, codes, stop));
        runtime::update_maximum(arena_bytes, bound_.back()->linked.peak_bytes());
    }
    codes.compile(*context.impl(), nullptr, stop);
    for (const std::shared_ptr<runtime::BoundProgram>& bound : bound_) bound->linked.take_codes(codes);
    bind();
    arenas_ = runtime::Arenas(*context_.impl(), arena_bytes, device::MemoryUse::scratch);
    for (const std::shared_ptr<runtime::BoundProgram>& bound : bound_)
        prepared_.push_back({bound, runtime::Frame(bound->linked, *context_.impl()),
                             std::vector<std::byte*>(bound->linked.program().buffers.size())});
}

void ProgramRunner::check_interrupt() const {
    if (stop_.stop_requested()) throw Cancelled("tune");
    if (autotune::Clock::now() > until_)
        throw Error(ErrorKind::argument, "tune", "no time is left to make its weights");
}

void ProgramRunner::bind() {
    std::map<std::string, const Buffer*, std::less<>> weights;
    for (const std::shared_ptr<runtime::BoundProgram>& bound : bound_)
        for (const Buffer& buffer : bound->linked.program().buffers)
            if (buffer.kind == BufferKind::weight) weights.emplace(buffer.name, &buffer);
    const WeightSource source = [&](std::string_view name) {
        return synthetic_weight(*weights.find(name)->second, *context_.impl()->cpu, [this] { check_interrupt(); });
    };
    values_.bind(bound_, *context_.impl(), {source, nullptr, {}, stop_});
    until_ = autotune::Clock::time_point::max();
}

std::byte* ProgramRunner::memory_of(const Buffer& buffer, std::size_t bytes) {
    auto& memory = inputs_and_states_[{(buffer.kind == BufferKind::state ? "s " : "i ") + buffer.name, buffer.device}];
    if (memory == nullptr || memory->capacity() < bytes) {
        memory = context_.impl()
                     ->backend(buffer.device)
                     .reserve(std::max<std::size_t>(bytes, 1), device::MemoryUse::scratch);
        fill_synthetic(*memory, bytes, buffer.desc.dtype, [this] { check_interrupt(); });
    }
    return memory->data();
}

void ProgramRunner::prepare(PreparedProgram& prepared, std::span<const std::int64_t> sizes) {
    const program::Program& program = prepared.bound->linked.program();
    prepared.frame.resize(sizes);
    arenas_.touch(prepared.frame.arena_bytes());
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        if (buffer.kind == BufferKind::input || buffer.kind == BufferKind::state)
            prepared.bases[b] = memory_of(buffer, static_cast<std::size_t>(buffer.bytes.evaluate(sizes)));
        else if (buffer.storage < 0)
            prepared.bases[b] = prepared.bound->memory.find(buffer);
    }
    prepared.frame.set_pointers(prepared.bases, arenas_.bases());
}

std::vector<std::vector<std::int64_t>> ProgramRunner::sizes_of(std::size_t index) const {
    const program::Program& program = prepared_[index].bound->linked.program();
    const std::vector<Symbols::Symbol> symbols = program.symbols->list();
    std::vector<std::vector<std::int64_t>> all;
    for (std::vector<std::int64_t> sizes : selection::representative_sizes(*program.symbols)) {
        for (int halvings = 0; halvings < 64 && !has_room(program, sizes); ++halvings)
            for (std::size_t s = 0; s < symbols.size(); ++s) sizes[s] -= (sizes[s] - symbols[s].low + 1) / 2;
        if (has_room(program, sizes) && std::find(all.begin(), all.end(), sizes) == all.end())
            all.push_back(std::move(sizes));
    }
    return all;
}

double ProgramRunner::seconds(std::size_t index, std::span<const std::int64_t> sizes, std::int64_t runs) {
    PreparedProgram& prepared = prepared_[index];
    prepare(prepared, sizes);
    const program::Program& program = prepared.bound->linked.program();
    const autotune::Clock::time_point begin = autotune::Clock::now();
    for (std::int64_t run = 0; run < runs; ++run) {
        device::Submission submission;
        prepared.frame.commands().run(submission);
        runtime::throw_fault(submission, prepared.frame.launches(), "tune", program, program.run);
    }
    return autotune::seconds_since(begin);
}

}  // namespace cairn::autotune
