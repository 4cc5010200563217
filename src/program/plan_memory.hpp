#pragma once

#include "cairn/kernel.hpp"
#include "program/memory_plan/packing_problem.hpp"
#include "program/program.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

/// From instructions to what a memory planner needs: who shares storage, and how long each storage is needed.
namespace cairn::program {

struct PlanOptions {
    bool in_place = true;       ///< let outputs take over the storage of inputs that end there
    bool reuse = true;          ///< let storages share bytes; without it each has its own
    int sample_limit = 8;       ///< sizes looked at
    std::stop_token stop = {};  ///< ends the search for a better plan
};

/// Where storages begin in the arena, in bytes: a line of a cache, and what vector kernels like best.
inline constexpr std::int64_t arena_alignment = 64;

/// In-place pairs of a kernel id: `{input, output}`.
using InPlacePairs = std::function<std::vector<std::pair<int, int>>(const Instruction&)>;
/// Those of an instruction's kernel whose operands the instruction has.
std::vector<std::pair<int, int>> in_place_pairs(const Instruction& instruction, const Kernel& kernel);

/// Fills in `program.plan`: merges in-place pairs where it is proved right (the input's storage ends with this
/// instruction, equal dense layout and size for every symbol value, no other operand in that storage), finds lives,
/// lets memory_plan::pack order the storages, and freezes the order.
///
///     t2 = mul t0, t1; t3 = exp t2     ->     t3 takes over t2's storage
void plan_memory(Program& program, const InPlacePairs& in_place, const PlanOptions& options = {});

/// The planner's problem for the storages of a planned program, at these symbol values; what an independent validator
/// is given.
memory_plan::PackingProblem planner_problem(const Program& program,
                                            const std::vector<std::vector<std::int64_t>>& samples);
/// The plan of a program as the planner would have given it at these samples, offsets evaluated from the frozen order.
memory_plan::PackingSolution planner_solution(const Program& program,
                                              const std::vector<std::vector<std::int64_t>>& samples);
/// Symbol values the plan is made and judged at: both bounds and a few between, jointly legal for the states'
/// capacities.
std::vector<std::vector<std::int64_t>> sample_points(const Program& program, int limit);

/// Puts each storage on those that the plan says lie below it, in the plan's order: `end_of(storage, offset)` is told
/// where it begins and gives where the next may. Returns the height of all. `ends` is scratch of one number a storage.
template <typename Number, typename EndOf>
Number stack_storages(const MemoryPlan& plan, std::span<Number> ends, const EndOf& end_of) {
    Number height = 0;
    for (const int s : plan.order) {
        const auto index = static_cast<std::size_t>(s);
        Number offset = 0;
        for (const int below : plan.storages[index].below)
            offset = std::max(offset, ends[static_cast<std::size_t>(below)]);
        ends[index] = end_of(index, offset);
        height = std::max(height, ends[index]);
    }
    return height;
}

/// The offset of each storage and, last, the bytes of the whole arena, for these symbol values.
std::vector<std::int64_t> evaluate_plan(const Program& program, std::span<const std::int64_t> symbol_values);

}  // namespace cairn::program
