#include "program/lifetimes.hpp"
#include "runtime/compiled_graph.hpp"

#include <algorithm>
#include <map>

namespace cairn::inline v0::runtime {
namespace {

using program::Buffer;
using program::BufferKind;

struct Peaks {
    std::vector<std::int64_t> offsets;  // of storages, at the sizes where the arena is largest
    std::vector<std::int64_t> symbol_values;
    std::int64_t arena = 0, max_live = 0;
};

std::int64_t live_bytes(const program::Program& program, const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> live(program.run.size() + 1, 0);
    for (const program::Storage& storage : program.plan.storages)
        for (int i = storage.first; i <= storage.last; ++i)
            live[static_cast<std::size_t>(i)] += storage.bytes.evaluate(values);
    return *std::max_element(live.begin(), live.end());
}

Peaks peaks_of(const program::Program& program) {
    Peaks peaks;
    for (const auto& values : program::sample_points(program, 8)) {
        const std::vector<std::int64_t> offsets = program::evaluate_plan(program, values);
        if (offsets.back() < peaks.arena && !peaks.offsets.empty()) continue;
        peaks = {offsets, values, offsets.back(), live_bytes(program, values)};
    }
    return peaks;
}

/// The kernel that makes a buffer: the name of what has none.
std::string maker_of(const program::Program& program, int buffer) {
    for (const auto* section : {&program.run, &program.bind})
        for (const program::Instruction& instruction : *section)
            for (const program::View& view : instruction.outputs)
                if (view.buffer == buffer) return instruction.kernel;
    return {};
}

/// Gathers rows and sums; a weight or bound value that several buckets share counts once.
class Report {
public:
    void add(const program::Program& program, const Peaks& peaks);
    MemoryReport finish();

private:
    MemoryReport report_;
    std::map<std::string, std::int64_t> weights_, bound_, states_;
};

void Report::add(const program::Program& program, const Peaks& peaks) {
    if (peaks.arena > report_.arena || report_.buffers.empty()) {
        report_.arena = peaks.arena;
        report_.max_live = peaks.max_live;
    }
    std::vector<bool> read(program.buffers.size(), false);
    for (const program::Instruction& instruction : program.run)
        for (const program::View& view : instruction.inputs) read[static_cast<std::size_t>(view.buffer)] = true;
    for (const program::Port& port : program.outputs) read[static_cast<std::size_t>(port.view.buffer)] = true;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        const bool of_bind_only =
            buffer.storage < 0 && !read[b] && buffer.kind != BufferKind::state && buffer.kind != BufferKind::input;
        if (of_bind_only) continue;
        BufferMemory row{buffer.name, std::string(program::to_string(buffer.kind)), cairn::to_string(buffer.bytes),
                         buffer.bytes.evaluate(peaks.symbol_values)};
        if (buffer.storage >= 0) {
            const program::Storage& storage = program.plan.storages[static_cast<std::size_t>(buffer.storage)];
            row.first = storage.first;
            row.last = storage.last;
            row.offset = peaks.offsets[static_cast<std::size_t>(buffer.storage)];
        }
        if (buffer.kind == BufferKind::weight) weights_[buffer.name] = row.peak_bytes;
        if (buffer.kind == BufferKind::bound) bound_[buffer.name] = row.peak_bytes;
        if (buffer.kind == BufferKind::state) states_[buffer.name] = row.peak_bytes;
        if (buffer.kind == BufferKind::constant) report_.constants += row.peak_bytes;
        if (row.name.empty() || buffer.kind == BufferKind::bound) row.name = maker_of(program, static_cast<int>(b));
        report_.buffers.push_back(std::move(row));
    }
}

MemoryReport Report::finish() {
    for (const auto& [name, bytes] : weights_) report_.weights += bytes;
    for (const auto& [name, bytes] : bound_) report_.bound += bytes;
    for (const auto& [name, bytes] : states_) report_.states += bytes;
    return std::move(report_);
}

}  // namespace

MemoryReport memory_report(const Core& core) {
    Report report;
    for (const BucketProgram& bucket : core.set.buckets) report.add(bucket.program, peaks_of(bucket.program));
    return report.finish();
}

MemoryReport memory_report(const Core& core, int bucket, const std::vector<std::int64_t>& sizes) {
    const auto b = static_cast<std::size_t>(bucket);
    const program::Program& program = core.set.buckets[b].program;
    Peaks peaks;
    for (const int symbol : core.symbol_of[b]) peaks.symbol_values.push_back(sizes[static_cast<std::size_t>(symbol)]);
    peaks.offsets = program::evaluate_plan(program, peaks.symbol_values);
    peaks.arena = peaks.offsets.back();
    peaks.max_live = live_bytes(program, peaks.symbol_values);
    Report report;
    report.add(program, peaks);
    return report.finish();
}

}  // namespace cairn::inline v0::runtime
