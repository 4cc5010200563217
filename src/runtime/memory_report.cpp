#include "program/plan_memory.hpp"
#include "runtime/compiled_graph.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace cairn::runtime {
namespace {

using program::Buffer;
using program::BufferKind;

/// A device's arena of a program at given sizes.
struct Arena {
    std::vector<std::pair<std::string, std::int64_t>> sizes;  // of all symbols of the graph
    std::vector<std::int64_t> offsets;                        // of storages
    std::vector<std::int64_t> symbol_values;
    std::int64_t bytes = 0, max_live = 0;
    bool is_exact = true;
};

std::int64_t live_bytes(const program::Program& program, Device device, const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> change(program.run.size() + 2, 0);
    for (const program::Storage& storage : program.plan.storages) {
        if (program::device_of(program, storage) != device) continue;
        const std::int64_t bytes = storage.bytes.evaluate(values);
        change[static_cast<std::size_t>(storage.first)] += bytes;
        change[static_cast<std::size_t>(storage.last) + 1] -= bytes;
    }
    std::int64_t live = 0, most = 0;
    for (const std::int64_t bytes : change) most = std::max(most, live += bytes);
    return most;
}

Arena arena_at(const Executable& executable, std::size_t bucket, const program::Program& program, Device device,
               std::vector<std::int64_t> symbol_values) {
    Arena arena;
    // A symbol with a single value in this bucket is not a symbol of its program.
    for (const Symbols::Symbol& symbol : executable.set.symbols->list())
        arena.sizes.emplace_back(symbol.name, symbol.low);
    for (auto& [symbol, value] : arena.sizes)
        for (const Range& range : executable.set.buckets[bucket].ranges)
            if (range.symbol == symbol) value = range.low;
    for (std::size_t s = 0; s < symbol_values.size(); ++s)
        arena.sizes[static_cast<std::size_t>(executable.symbol_of[bucket][s])].second = symbol_values[s];
    program::PlacedStorages placed = program::evaluate_plan(program, symbol_values);
    arena.offsets = std::move(placed.offsets);
    arena.bytes = placed.arena_bytes.value_of(device);
    arena.max_live = live_bytes(program, device, symbol_values);
    arena.symbol_values = std::move(symbol_values);
    return arena;
}

/// The kernel that computes each buffer, the first of several: used as the name of unnamed buffers.
std::vector<std::string_view> producers_of(const program::Program& program) {
    std::vector<std::string_view> producers(program.buffers.size());
    for (const auto* section : {&program.run, &program.bind})
        for (const program::Instruction& instruction : *section)
            for (const program::View& view : instruction.outputs)
                if (std::string_view& maker = producers[static_cast<std::size_t>(view.buffer)]; maker.empty())
                    maker = instruction.kernel;
    return producers;
}

/// Accumulates rows and sums; a weight or bound value that several buckets share counts once.
class Report {
public:
    /// Adds the memory of a program on one device.
    void add(const program::Program& program, Device device, const Arena& arena);
    /// Adds a program that does not run but that save() may write.
    void add_inactive(const program::Program& program);
    /// Adds the exact program that an inexact one is, or was, verified against, with the bytes of its arenas.
    void add_exact(const program::Program& program, const types::PerDevice<std::int64_t>& arenas, bool is_pending);
    MemoryReport finish();

private:
    using BytesByName = std::map<std::string, std::int64_t>;
    struct OfDevice {
        DeviceMemory memory;
        bool has_arena = false;
        BytesByName weights, bound, states;
        BytesByName bound_exact, states_exact;
        std::int64_t arena_exact = -1;  // -1: there is nothing to verify
    };

    types::PerDevice<OfDevice> devices_;
    std::vector<BufferMemory> buffers_;
};

/// Per buffer: true if a run reads it or returns it as an output.
std::vector<bool> read_in_runs(const program::Program& program) {
    std::vector<bool> read(program.buffers.size(), false);
    for (const program::Instruction& instruction : program.run)
        for (const program::View& view : instruction.inputs) read[static_cast<std::size_t>(view.buffer)] = true;
    for (const program::Port& port : program.outputs) read[static_cast<std::size_t>(port.view.buffer)] = true;
    return read;
}

void Report::add(const program::Program& program, Device device, const Arena& arena) {
    OfDevice& of_device = devices_[device];
    if (arena.bytes > of_device.memory.arena || !of_device.has_arena) {
        of_device.memory.arena = arena.bytes;
        of_device.memory.max_live = arena.max_live;
        of_device.memory.arena_is_exact = arena.is_exact;
        of_device.memory.arena_sizes = arena.sizes;
        of_device.has_arena = true;
    }
    const std::vector<std::string_view> producers = producers_of(program);
    const std::vector<bool> read = read_in_runs(program);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        const bool of_bind_only =
            buffer.storage < 0 && !read[b] && buffer.kind != BufferKind::state && buffer.kind != BufferKind::input;
        if (of_bind_only || buffer.device != device) continue;
        BufferMemory row{buffer.name, std::string(program::to_string(buffer.kind)), cairn::to_string(buffer.bytes),
                         buffer.bytes.evaluate(arena.symbol_values)};
        row.device = device;
        if (buffer.storage >= 0) {
            const program::Storage& storage = program.plan.storages[static_cast<std::size_t>(buffer.storage)];
            row.first = storage.first;
            row.last = storage.last;
            row.offset = arena.offsets[static_cast<std::size_t>(buffer.storage)];
        }
        if (buffer.kind == BufferKind::weight) of_device.weights[buffer.name] = row.peak_bytes;
        if (buffer.kind == BufferKind::bound) of_device.bound[buffer.name] = row.peak_bytes;
        if (buffer.kind == BufferKind::state) of_device.states[buffer.name] = row.peak_bytes;
        devices_[Device::cpu].memory.constants += static_cast<std::int64_t>(buffer.data.size());
        if (row.name.empty() || buffer.kind == BufferKind::bound) row.name = producers[b];
        buffers_.push_back(std::move(row));
    }
}

void Report::add_inactive(const program::Program& program) {
    for (const Buffer& buffer : program.buffers)
        devices_[Device::cpu].memory.constants += static_cast<std::int64_t>(buffer.data.size());
}

void Report::add_exact(const program::Program& program, const types::PerDevice<std::int64_t>& arenas, bool is_pending) {
    for (const auto& [device, bytes] : arenas)
        if (OfDevice& of_device = devices_[device]; is_pending)
            of_device.arena_exact = std::max(of_device.arena_exact, bytes);
    const std::vector<bool> read = read_in_runs(program);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        OfDevice& of_device = devices_[buffer.device];
        if (buffer.kind == BufferKind::bound && read[b]) of_device.bound_exact[buffer.name] = buffer.bytes.constant();
        if (buffer.kind == BufferKind::state) of_device.states_exact[buffer.name] = buffer.bytes.constant();
    }
}

MemoryReport Report::finish() {
    MemoryReport report;
    for (auto& [device, of_device] : devices_) {
        DeviceMemory& memory = of_device.memory;
        for (const auto& [name, bytes] : of_device.weights) memory.weights += bytes;
        for (const auto& [name, bytes] : of_device.bound) memory.bound += bytes;
        for (const auto& [name, bytes] : of_device.states) memory.states += bytes;
        for (const auto& [name, bytes] : of_device.bound_exact)
            if (!of_device.bound.contains(name)) memory.verification += bytes;
        if (of_device.arena_exact >= 0) {
            memory.verification += of_device.arena_exact;
            for (const auto& [name, bytes] : of_device.states_exact) memory.verification += bytes;
        }
        if (device == Device::cpu)
            static_cast<DeviceMemory&>(report) = std::move(memory);
        else
            report.devices.emplace_back(device, std::move(memory));
    }
    report.buffers = std::move(buffers_);
    return report;
}

/// Adds the constants of a bucket's program that does not run, or not yet.
void add_inactive_program(Report& report, const BucketProgram& bucket, const program::Program& active) {
    if (bucket.exact) report.add_inactive(&active == &*bucket.exact ? bucket.program : *bucket.exact);
}

/// The exact program linked beside a bucket's inexact one, or null.
std::shared_ptr<BoundProgram> exact_of(const Executable& executable, std::size_t b) {
    std::shared_ptr<BoundProgram> reference_program = executable.buckets[b]->reference_program();
    return reference_program != nullptr ? reference_program : executable.buckets[b]->exact();
}

}  // namespace

MemoryReport memory_report(const Executable& executable) {
    Report report;
    for (std::size_t b = 0; b < executable.buckets.size(); ++b) {
        const bool is_pending = executable.buckets[b]->status() == VerificationStatus::pending;
        const std::shared_ptr<BoundProgram> reference_program = exact_of(executable, b),
                                            active = executable.buckets[b]->active();
        const program::Program& program = active->linked.program();
        for (const Device device : active->linked.devices()) {
            const program::PeakMemory& peak = active->linked.peak(device);
            Arena arena = arena_at(executable, b, program, device, peak.at);
            arena.bytes = peak.bytes;
            arena.is_exact = peak.is_exact();
            report.add(program, device, arena);
        }
        add_inactive_program(report, executable.set.buckets[b], program);
        if (reference_program != nullptr)
            report.add_exact(reference_program->linked.program(), reference_program->linked.peak_bytes(), is_pending);
    }
    return report.finish();
}

MemoryReport memory_report(const Executable& executable, int bucket, const std::vector<std::int64_t>& sizes) {
    const auto b = static_cast<std::size_t>(bucket);
    std::vector<std::int64_t> symbol_values;
    for (const int symbol : executable.symbol_of[b]) symbol_values.push_back(sizes[static_cast<std::size_t>(symbol)]);
    const bool is_pending = executable.buckets[b]->status() == VerificationStatus::pending;
    const std::shared_ptr<BoundProgram> reference_program = exact_of(executable, b),
                                        active = executable.buckets[b]->active();
    const program::Program& program = active->linked.program();
    Report report;
    if (reference_program != nullptr) {
        const program::Program& exact = reference_program->linked.program();
        report.add_exact(exact, program::evaluate_plan(exact, symbol_values).arena_bytes, is_pending);
    }
    for (const Device device : active->linked.devices())
        report.add(program, device, arena_at(executable, b, program, device, symbol_values));
    add_inactive_program(report, executable.set.buckets[b], program);
    return report.finish();
}

}  // namespace cairn::runtime
