#include "program/peak_memory.hpp"

#include "graph/types/dim_table.hpp"
#include "program/plan_memory.hpp"

#include <algorithm>

namespace cairn::program {

std::vector<Polynomial> limits_of(const Program& program) {
    std::vector<Polynomial> limits;
    for (const StatePort& state : program.states) {
        if (state.axis < 0) continue;
        const Dim& capacity =
            program.buffers[static_cast<std::size_t>(state.buffer)].desc.shape[static_cast<std::size_t>(state.axis)];
        Polynomial limit = detail::DimTable::polynomial(state.after - capacity);
        if (std::find(limits.begin(), limits.end(), limit) == limits.end()) limits.push_back(std::move(limit));
    }
    return limits;
}

PeakMemory peak_memory_of(const Program& program, Device device, int boxes) {
    return peak_memory_of(program, plan_of(program, device), boxes);
}

PeakMemory peak_memory_of(const Program& program, const MemoryPlan& plan, int boxes) {
    Quantity arena;
    arena.unit = arena_alignment;
    std::vector<Dim> distinct;
    std::vector<std::size_t> size_of_storage;
    for (const Storage& storage : plan.storages) {
        const auto it = std::find(distinct.begin(), distinct.end(), storage.bytes);
        size_of_storage.push_back(static_cast<std::size_t>(it - distinct.begin()));
        if (it != distinct.end()) continue;
        distinct.push_back(storage.bytes);
        arena.sizes.push_back(detail::DimTable::polynomial(storage.bytes));
    }
    std::vector<Wide> ends(plan.storages.size());
    arena.total = [&](std::span<const Wide> sizes) {
        Wide height = 0;
        stack_storages<Wide>(plan, ends, [&](std::size_t s, Wide offset) {
            const Wide end = std::clamp(offset + sizes[size_of_storage[s]], -detail::infinity, detail::infinity);
            height = std::max(height, end);
            return end;
        });
        return height;
    };
    const Maximum most = maximum_of(arena, *program.symbols, limits_of(program), {.boxes = boxes});
    PeakMemory peak{detail::to_int64(most.bound), detail::to_int64(most.found), most.at};
    if (!most.legal) peak.at = Box(*program.symbols).low();
    return peak;
}

}  // namespace cairn::program
