#include "program/plan_memory.hpp"
#include "runtime/compiled_graph.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace cairn::runtime {
namespace {

using program::Buffer;
using program::BufferKind;

/// A program's arena at given sizes.
struct Arena {
    std::vector<std::pair<std::string, std::int64_t>> sizes;  // of all symbols of the graph
    std::vector<std::int64_t> offsets;                        // of storages
    std::vector<std::int64_t> symbol_values;
    std::int64_t bytes = 0, max_live = 0;
    bool is_exact = true;
};

std::int64_t live_bytes(const program::Program& program, const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> change(program.run.size() + 2, 0);
    for (const program::Storage& storage : program.plan.storages) {
        const std::int64_t bytes = storage.bytes.evaluate(values);
        change[static_cast<std::size_t>(storage.first)] += bytes;
        change[static_cast<std::size_t>(storage.last) + 1] -= bytes;
    }
    std::int64_t live = 0, most = 0;
    for (const std::int64_t bytes : change) most = std::max(most, live += bytes);
    return most;
}

Arena arena_at(const Executable& executable, std::size_t bucket, const program::Program& program,
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
    arena.offsets = program::evaluate_plan(program, symbol_values);
    arena.bytes = arena.offsets.back();
    arena.max_live = live_bytes(program, symbol_values);
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
    void add(const program::Program& program, const Arena& arena);
    /// Adds a program that does not run but that save() may write.
    void add_inactive(const program::Program& program);
    /// Adds the exact program that an inexact one is, or was, verified against.
    void add_exact(const program::Program& program, std::int64_t arena, bool is_pending);
    MemoryReport finish();

private:
    MemoryReport report_;
    std::map<std::string, std::int64_t> weights_, bound_, states_;
    std::map<std::string, std::int64_t> bound_exact_, states_exact_;
    std::int64_t arena_exact_ = -1;  // -1: there is nothing to verify
};

/// Per buffer: true if a run reads it or returns it as an output.
std::vector<bool> read_in_runs(const program::Program& program) {
    std::vector<bool> read(program.buffers.size(), false);
    for (const program::Instruction& instruction : program.run)
        for (const program::View& view : instruction.inputs) read[static_cast<std::size_t>(view.buffer)] = true;
    for (const program::Port& port : program.outputs) read[static_cast<std::size_t>(port.view.buffer)] = true;
    return read;
}

void Report::add(const program::Program& program, const Arena& arena) {
    if (arena.bytes > report_.arena || report_.buffers.empty()) {
        report_.arena = arena.bytes;
        report_.max_live = arena.max_live;
        report_.arena_is_exact = arena.is_exact;
        report_.arena_sizes = arena.sizes;
    }
    const std::vector<std::string_view> producers = producers_of(program);
    const std::vector<bool> read = read_in_runs(program);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        const bool of_bind_only =
            buffer.storage < 0 && !read[b] && buffer.kind != BufferKind::state && buffer.kind != BufferKind::input;
        if (of_bind_only) continue;
        BufferMemory row{buffer.name, std::string(program::to_string(buffer.kind)), cairn::to_string(buffer.bytes),
                         buffer.bytes.evaluate(arena.symbol_values)};
        if (buffer.storage >= 0) {
            const program::Storage& storage = program.plan.storages[static_cast<std::size_t>(buffer.storage)];
            row.first = storage.first;
            row.last = storage.last;
            row.offset = arena.offsets[static_cast<std::size_t>(buffer.storage)];
        }
        if (buffer.kind == BufferKind::weight) weights_[buffer.name] = row.peak_bytes;
        if (buffer.kind == BufferKind::bound) bound_[buffer.name] = row.peak_bytes;
        if (buffer.kind == BufferKind::state) states_[buffer.name] = row.peak_bytes;
        report_.constants += static_cast<std::int64_t>(buffer.data.size());
        if (row.name.empty() || buffer.kind == BufferKind::bound) row.name = producers[b];
        report_.buffers.push_back(std::move(row));
    }
}

void Report::add_inactive(const program::Program& program) {
    for (const Buffer& buffer : program.buffers) report_.constants += static_cast<std::int64_t>(buffer.data.size());
}

void Report::add_exact(const program::Program& program, std::int64_t arena, bool is_pending) {
    if (is_pending) arena_exact_ = std::max(arena_exact_, arena);
    const std::vector<bool> read = read_in_runs(program);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        if (buffer.kind == BufferKind::bound && read[b]) bound_exact_[buffer.name] = buffer.bytes.constant();
        if (buffer.kind == BufferKind::state) states_exact_[buffer.name] = buffer.bytes.constant();
    }
}

MemoryReport Report::finish() {
    for (const auto& [name, bytes] : weights_) report_.weights += bytes;
    for (const auto& [name, bytes] : bound_) report_.bound += bytes;
    for (const auto& [name, bytes] : states_) report_.states += bytes;
    for (const auto& [name, bytes] : bound_exact_)
        if (!bound_.contains(name)) report_.verification += bytes;
    if (arena_exact_ < 0) return std::move(report_);
    report_.verification += arena_exact_;
    for (const auto& [name, bytes] : states_exact_) report_.verification += bytes;
    return std::move(report_);
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
        const program::PeakMemory& peak = active->linked.peak();
        Arena arena = arena_at(executable, b, active->linked.program(), peak.at);
        arena.bytes = peak.bytes;
        arena.is_exact = peak.is_exact();
        report.add(active->linked.program(), arena);
        add_inactive_program(report, executable.set.buckets[b], active->linked.program());
        if (reference_program != nullptr)
            report.add_exact(reference_program->linked.program(), reference_program->linked.peak().bytes, is_pending);
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
    Report report;
    if (reference_program != nullptr)
        report.add_exact(reference_program->linked.program(),
                         program::evaluate_plan(reference_program->linked.program(), symbol_values).back(), is_pending);
    report.add(active->linked.program(), arena_at(executable, b, active->linked.program(), std::move(symbol_values)));
    add_inactive_program(report, executable.set.buckets[b], active->linked.program());
    return report.finish();
}

}  // namespace cairn::runtime
