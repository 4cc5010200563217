#include "selection/search/state_table.hpp"

#include "selection/search/beam.hpp"

#include <functional>

namespace cairn::search {

bool StateTable::reach(StateView state, PathDag& dag, PathSet first, PathSet second, int renamed) {
    if (storage_ == nullptr) storage_ = std::make_unique<TableStorage>();
    const auto hash = static_cast<std::uint32_t>(std::hash<StateView>()(state));
    Slot& slot = storage_->slot_of(state, hash);
    const bool is_new = slot.entry == Slot::vacant;
    if (is_new) {
        slot = {hash, static_cast<std::uint32_t>(storage_->entries.size())};
        storage_->entries.push_back({copy_to_pool(state, storage_->pool), {}});
    }
    dag.add(storage_->entries[slot.entry].sum, first, second, renamed);
    if (is_new && 2 * storage_->entries.size() > storage_->slots.size()) storage_->grow();
    return is_new;
}

StateTable::Slot& StateTable::TableStorage::slot_of(StateView state, std::uint32_t hash) {
    for (std::size_t at = hash;; ++at) {
        Slot& slot = slots[at & (slots.size() - 1)];
        if (slot.entry == Slot::vacant || (slot.hash == hash && entries[slot.entry].state == state)) return slot;
    }
}

void StateTable::TableStorage::grow() {
    std::pmr::vector<Slot> more(4 * slots.size(), &pool);
    for (const Slot& slot : slots) {
        if (slot.entry == Slot::vacant) continue;
        std::size_t at = slot.hash & (more.size() - 1);
        while (more[at].entry != Slot::vacant) at = (at + 1) & (more.size() - 1);
        more[at] = slot;
    }
    slots.swap(more);
}

bool StateTable::prune_to_beam(const std::function<double(StateView)>& remaining) {
    const std::span<const ReachedState> all = entries();
    std::size_t goals = 1;
    for (const ReachedState& entry : all) goals += entry.state.size();
    const std::size_t width = beam_width(all.size(), goals);
    if (all.size() <= width) return false;
    keep(cheapest_indices(all.size(), width,
                          [&](std::size_t e) { return all[e].sum.cost + (remaining ? remaining(all[e].state) : 0); }));
    return true;
}

void StateTable::keep(std::span<const std::size_t> indices) {
    const std::span<const ReachedState> all = entries();
    std::vector<ReachedState> kept;
    kept.reserve(indices.size());
    for (const std::size_t index : indices) kept.push_back(all[index]);
    if (storage_ != nullptr) storage_->entries.assign(kept.begin(), kept.end());
}

}  // namespace cairn::search
