#include "program/plan_memory.hpp"

#include "program/memory_plan/live_intervals.hpp"
#include "program/peak_memory.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

namespace cairn::program {
namespace {

bool in_arena(const Buffer& buffer) {
    return buffer.kind == BufferKind::transient || buffer.kind == BufferKind::output ||
           buffer.kind == BufferKind::workspace;
}

struct LiveInterval {
    int first = -1, last = -1;
};

/// Liveness: the first and last instruction of `run` that uses each buffer. Workspaces of the bind section have no
/// interval: bind allocates its own.
std::vector<LiveInterval> live_intervals_of(const Program& program) {
    std::vector<LiveInterval> intervals(program.buffers.size());
    const auto touch = [&](int buffer, int at) {
        LiveInterval& life = intervals[static_cast<std::size_t>(buffer)];
        if (life.first < 0) life.first = at;
        life.last = at;
    };
    for (std::size_t i = 0; i < program.run.size(); ++i) {
        for (const auto* views : {&program.run[i].inputs, &program.run[i].outputs})
            for (const View& view : *views) touch(view.buffer, static_cast<int>(i));
        if (program.run[i].workspace >= 0) touch(program.run[i].workspace, static_cast<int>(i));
    }
    // An output is live after the last instruction, until the caller has read it.
    for (const Port& port : program.outputs)
        if (in_arena(program.buffers[static_cast<std::size_t>(port.view.buffer)]))
            touch(port.view.buffer, static_cast<int>(program.run.size()));
    return intervals;
}

/// Merges buffers that may share storage because one is computed in place of the other.
class InPlaceMerger {
public:
    InPlaceMerger(const Program& program, const std::vector<LiveInterval>& intervals)
        : program_(program), intervals_(intervals), parent_(program.buffers.size()) {
        std::iota(parent_.begin(), parent_.end(), 0);
        for (const LiveInterval& life : intervals) last_.push_back(life.last);
    }

    int root(int buffer) const {
        while (parent_[static_cast<std::size_t>(buffer)] != buffer) buffer = parent_[static_cast<std::size_t>(buffer)];
        return buffer;
    }

    void try_pair(int at, int input, int output) {
        const Instruction& instruction = program_.run[static_cast<std::size_t>(at)];
        const View& in = instruction.inputs[static_cast<std::size_t>(input)];
        const View& out = instruction.outputs[static_cast<std::size_t>(output)];
        const Buffer& from = program_.buffers[static_cast<std::size_t>(in.buffer)];
        const Buffer& to = program_.buffers[static_cast<std::size_t>(out.buffer)];
        if (from.kind != BufferKind::transient || (to.kind != BufferKind::transient && to.kind != BufferKind::output))
            return;
        const TensorDesc& in_desc = instruction.problem->inputs[static_cast<std::size_t>(input)];
        const TensorDesc& out_desc = instruction.problem->outputs[static_cast<std::size_t>(output)];
        const bool same = from.device == to.device && in_desc.dtype == out_desc.dtype &&
                          in_desc.shape == out_desc.shape && in_desc.strides == out_desc.strides &&
                          in_desc.is_dense() && out_desc.layout.empty() && in.offset == Dim(0) &&
                          out.offset == Dim(0) && from.bytes == to.bytes;
        const int storage = root(in.buffer);
        if (!same || last_[static_cast<std::size_t>(storage)] != at ||
            intervals_[static_cast<std::size_t>(out.buffer)].first != at)
            return;
        // An output that reuses one input's storage cannot reuse another's.
        if (root(out.buffer) != out.buffer || is_used_otherwise(instruction, storage, input)) return;
        parent_[static_cast<std::size_t>(out.buffer)] = storage;
        last_[static_cast<std::size_t>(storage)] = intervals_[static_cast<std::size_t>(out.buffer)].last;
    }

private:
    /// True if another operand of the instruction is in the storage, or an output already reuses it.
    bool is_used_otherwise(const Instruction& instruction, int storage, int input) const {
        for (std::size_t i = 0; i < instruction.inputs.size(); ++i)
            if (static_cast<int>(i) != input && root(instruction.inputs[i].buffer) == storage) return true;
        return std::any_of(instruction.outputs.begin(), instruction.outputs.end(),
                           [&](const View& view) { return root(view.buffer) == storage; });
    }

    const Program& program_;
    const std::vector<LiveInterval>& intervals_;
    std::vector<int> parent_, last_;
};

void make_storages(Program& program, const std::vector<LiveInterval>& intervals, const InPlaceMerger& merged) {
    std::map<int, int> storage_of;
    program.plan = {};
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        Buffer& buffer = program.buffers[b];
        buffer.storage = -1;
        if (!in_arena(buffer) || intervals[b].first < 0) continue;
        const auto [it, fresh] =
            storage_of.try_emplace(merged.root(static_cast<int>(b)), static_cast<int>(program.plan.storages.size()));
        if (fresh) program.plan.storages.push_back({{}, buffer.bytes, intervals[b].first, intervals[b].last, {}});
        Storage& storage = program.plan.storages[static_cast<std::size_t>(it->second)];
        storage.buffers.push_back(static_cast<int>(b));
        storage.first = std::min(storage.first, intervals[b].first);
        storage.last = std::max(storage.last, intervals[b].last);
        buffer.storage = it->second;
    }
}

/// Numbers of the storages of a device.
std::vector<int> storages_of(const Program& program, Device device) {
    std::vector<int> numbers;
    for (std::size_t s = 0; s < program.plan.storages.size(); ++s)
        if (device_of(program, program.plan.storages[s]) == device) numbers.push_back(static_cast<int>(s));
    return numbers;
}

/// Orders the storages of one device.
void pack_storages(MemoryPlan& plan, const std::vector<std::vector<std::int64_t>>& samples,
                   const PlanOptions& options) {
    memory_plan::Options plan_options;
    plan_options.reuse = options.reuse;
    plan_options.steps = options.steps;
    plan_options.stop = options.stop;
    const memory_plan::PackingSolution solution = memory_plan::pack(planner_problem(plan, samples), plan_options);
    for (std::size_t s = 0; s < plan.storages.size(); ++s) plan.storages[s].below = solution.below[s];
    plan.order = solution.order;
}

/// The plan of a device's storages, which have no order yet.
MemoryPlan packed(const Program& program, Device device, const PlanOptions& options) {
    std::vector<std::vector<std::int64_t>> samples = sample_points(program, options.sample_limit);
    MemoryPlan plan = plan_of(program, device);
    pack_storages(plan, samples, options);
    // If some buffers shrink as others grow, the arena may be largest at sizes between the samples.
    const PeakMemory peak = peak_memory_of(program, plan);
    if (std::find(samples.begin(), samples.end(), peak.at) != samples.end()) return plan;
    const memory_plan::PackingProblem problem_at_peak = planner_problem(plan, {peak.at});
    if (peak.found <= memory_plan::align_up(
                          memory_plan::lower_bounds(problem_at_peak, memory_plan::LiveIntervals(problem_at_peak))[0],
                          arena_alignment))
        return plan;
    MemoryPlan second = plan;
    samples.push_back(peak.at);
    pack_storages(second, samples, options);
    return peak_memory_of(program, second).bytes >= peak.bytes ? plan : second;
}

}  // namespace

std::vector<std::vector<std::int64_t>> sample_points(const Program& program, int limit) {
    const std::vector<Symbols::Symbol> symbols = program.symbols->list();
    // Positions between the lower and the upper bound. The ends come first because they matter most.
    constexpr double fractions[] = {1, 0, 0.5, 0.125, 0.03, 0.75, 0.25, 0.01};
    std::vector<std::vector<std::int64_t>> points;
    for (const double fraction : fractions) {
        if (static_cast<int>(points.size()) == limit) break;
        std::vector<std::int64_t> point;
        for (const Symbols::Symbol& symbol : symbols)
            point.push_back(symbol.low +
                            static_cast<std::int64_t>(fraction * static_cast<double>(symbol.high - symbol.low)));
        // Reduce a state's length symbol so that the state fits its capacity.
        for (const StatePort& state : program.states) {
            if (state.axis < 0) continue;
            const Dim capacity = program.buffers[static_cast<std::size_t>(state.buffer)]
                                     .desc.shape[static_cast<std::size_t>(state.axis)];
            for (std::size_t s = 0; s < symbols.size(); ++s)
                if (state.before.symbol() == symbols[s].name) {
                    const std::int64_t excess = state.after.evaluate(point) - capacity.constant();
                    if (excess > 0) point[s] = std::max(symbols[s].low, point[s] - excess);
                }
        }
        if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(std::move(point));
    }
    return points;
}

MemoryPlan plan_of(const Program& program, Device device) {
    const std::vector<int> numbers = storages_of(program, device);
    std::vector<int> own_numbers(program.plan.storages.size(), -1);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        own_numbers[static_cast<std::size_t>(numbers[i])] = static_cast<int>(i);
    MemoryPlan plan;
    for (const int s : numbers) {
        Storage& storage = plan.storages.emplace_back(program.plan.storages[static_cast<std::size_t>(s)]);
        for (int& below : storage.below) below = own_numbers[static_cast<std::size_t>(below)];
    }
    for (const int s : program.plan.order)
        if (own_numbers[static_cast<std::size_t>(s)] >= 0)
            plan.order.push_back(own_numbers[static_cast<std::size_t>(s)]);
    return plan;
}

memory_plan::PackingProblem planner_problem(const MemoryPlan& plan,
                                            const std::vector<std::vector<std::int64_t>>& samples) {
    memory_plan::PackingProblem problem;
    problem.samples = static_cast<int>(samples.size());
    for (const Storage& storage : plan.storages) {
        memory_plan::BufferRequest buffer;
        for (const auto& sample : samples) buffer.bytes.push_back(storage.bytes.evaluate(sample));
        buffer.alignment = arena_alignment;
        buffer.first = storage.first;
        buffer.last = storage.last;
        problem.buffers.push_back(std::move(buffer));
    }
    return problem;
}

memory_plan::PackingSolution planner_solution(const MemoryPlan& plan,
                                              const std::vector<std::vector<std::int64_t>>& samples) {
    memory_plan::PackingSolution solution;
    for (const Storage& storage : plan.storages) solution.below.push_back(storage.below);
    solution.order = plan.order;
    const memory_plan::PackingProblem problem = planner_problem(plan, samples);
    for (std::size_t s = 0; s < samples.size(); ++s) {
        std::vector<std::int64_t> offsets(plan.storages.size()), ends(plan.storages.size());
        std::int64_t height = 0;
        stack_storages<std::int64_t>(plan, ends, [&](std::size_t b, std::int64_t offset) {
            offsets[b] = offset;
            height = std::max(height, offset + problem.buffers[b].bytes[s]);
            return memory_plan::align_up(offset + problem.buffers[b].bytes[s], arena_alignment);
        });
        solution.offsets.push_back(std::move(offsets));
        solution.height.push_back(height);
    }
    solution.lower_bound = memory_plan::lower_bounds(problem, memory_plan::LiveIntervals(problem));
    return solution;
}

std::vector<std::pair<int, int>> in_place_pairs(const Instruction& instruction, const Kernel& kernel) {
    std::vector<std::pair<int, int>> pairs;
    for (const InPlace& pair : kernel.in_place)
        if (pair.input < static_cast<int>(instruction.inputs.size()) &&
            pair.output < static_cast<int>(instruction.outputs.size()))
            pairs.emplace_back(pair.input, pair.output);
    return pairs;
}

void plan_memory(Program& program, const InPlacePairs& in_place, const PlanOptions& options) {
    const std::vector<LiveInterval> intervals = live_intervals_of(program);
    InPlaceMerger merger(program, intervals);
    if (options.in_place)
        for (std::size_t i = 0; i < program.run.size(); ++i)
            for (const auto& [input, output] : in_place(program.run[i]))
                merger.try_pair(static_cast<int>(i), input, output);
    make_storages(program, intervals, merger);

    for (const Device device : devices_of(program)) {
        const std::vector<int> numbers = storages_of(program, device);
        const MemoryPlan plan = packed(program, device, options);
        const auto number_of = [&](int s) { return numbers[static_cast<std::size_t>(s)]; };
        for (std::size_t s = 0; s < numbers.size(); ++s)
            std::ranges::transform(
                plan.storages[s].below,
                std::back_inserter(program.plan.storages[static_cast<std::size_t>(numbers[s])].below), number_of);
        std::ranges::transform(plan.order, std::back_inserter(program.plan.order), number_of);
    }
}

PlacedStorages evaluate_plan(const Program& program, std::span<const std::int64_t> symbol_values) {
    const std::vector<Storage>& storages = program.plan.storages;
    PlacedStorages placed{std::vector<std::int64_t>(storages.size()), {}};
    std::vector<std::int64_t> ends(storages.size());
    stack_storages<std::int64_t>(program.plan, ends, [&](std::size_t s, std::int64_t offset) {
        placed.offsets[s] = offset;
        return memory_plan::align_up(offset + storages[s].bytes.evaluate(symbol_values), arena_alignment);
    });
    for (std::size_t s = 0; s < storages.size(); ++s) {
        std::int64_t& bytes = placed.arena_bytes[device_of(program, storages[s])];
        bytes = std::max(bytes, ends[s]);
    }
    return placed;
}

}  // namespace cairn::program
