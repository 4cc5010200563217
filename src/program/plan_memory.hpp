#pragma once

#include "cairn/kernel.hpp"
#include "graph/types/per_device.hpp"
#include "program/memory_plan/pack.hpp"
#include "program/program.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

/// Declares memory planning of a program: in-place merging, liveness of storages, and evaluation of the plan.
namespace cairn::program {

/// Options of plan_memory().
struct PlanOptions {
    bool in_place = true;  ///< let outputs reuse the storage of inputs whose live interval ends there
    bool reuse = true;     ///< let storages share bytes; false: each has its own
    int sample_limit = 8;  ///< maximum number of sample sizes
    std::int64_t steps = memory_plan::Options().steps;  ///< of the search below ceilings
    std::stop_token stop = {};                          ///< ends the search for a better plan
};

/// Alignment of storages in the arena, in bytes: a cache line, and the best alignment for vector kernels.
inline constexpr std::int64_t arena_alignment = 64;

/// Returns the in-place pairs `{input, output}` of an instruction's kernel.
using InPlacePairs = std::function<std::vector<std::pair<int, int>>(const Instruction&)>;
/// The kernel's in-place pairs whose operands the instruction has.
std::vector<std::pair<int, int>> in_place_pairs(const Instruction& instruction, const Kernel& kernel);

/// Computes `program.plan`: merges in-place pairs where that is proved correct (the input's storage ends with this
/// instruction, equal dense layout and size for every symbol value, no other operand in that storage, one device),
/// computes live intervals, lets memory_plan::pack order the storages of each device, and freezes the order.
///
///     t2 = mul t0, t1; t3 = exp t2     ->     t3 reuses t2's storage
void plan_memory(Program& program, const InPlacePairs& in_place, const PlanOptions& options = {});

/// The plan of one device alone, its storages numbered anew in the order of the program.
MemoryPlan plan_of(const Program& program, Device device);
/// The packing problem of a plan's storages at these symbol values: the input of an independent validator.
memory_plan::PackingProblem planner_problem(const MemoryPlan& plan,
                                            const std::vector<std::vector<std::int64_t>>& samples);
/// The plan of one device as a packing solution at these samples, with offsets evaluated from the frozen order.
memory_plan::PackingSolution planner_solution(const MemoryPlan& plan,
                                              const std::vector<std::vector<std::int64_t>>& samples);
/// Symbol values at which the plan is computed and scored: both bounds and a few between, within the states'
/// capacities.
std::vector<std::vector<std::int64_t>> sample_points(const Program& program, int limit);

/// Evaluates the plan: places each storage above those below it, in the plan's order. `end_of(storage, offset)` gets a
/// storage's offset and returns the lowest offset for those above it, which `ends` then holds for each storage.
template <typename Number, typename EndOf>
void stack_storages(const MemoryPlan& plan, std::span<Number> ends, const EndOf& end_of) {
    for (const int s : plan.order) {
        const auto index = static_cast<std::size_t>(s);
        Number offset = 0;
        for (const int below : plan.storages[index].below)
            offset = std::max(offset, ends[static_cast<std::size_t>(below)]);
        ends[index] = end_of(index, offset);
    }
}

/// A plan at given symbol values, in bytes.
struct PlacedStorages {
    std::vector<std::int64_t> offsets;           ///< of each storage in the arena of its device
    types::PerDevice<std::int64_t> arena_bytes;  ///< of each device that has storages
};
PlacedStorages evaluate_plan(const Program& program, std::span<const std::int64_t> symbol_values);

}  // namespace cairn::program
