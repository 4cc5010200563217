#include "search/reached.hpp"

#include "search/beam.hpp"

#include <functional>

namespace cairn::search {

bool Reached::reach(StateView state, Space& space, Set first, Set second, int renamed) {
    if (held_ == nullptr) held_ = std::make_unique<Held>();
    const auto hash = static_cast<std::uint32_t>(std::hash<StateView>()(state));
    Slot& slot = held_->slot_of(state, hash);
    const bool is_new = slot.entry == Slot::vacant;
    if (is_new) {
        slot = {hash, static_cast<std::uint32_t>(held_->entries.size())};
        held_->entries.push_back({kept(state, held_->pool), {}});
    }
    space.add(held_->entries[slot.entry].sum, first, second, renamed);
    if (is_new && 2 * held_->entries.size() > held_->slots.size()) held_->grow();
    return is_new;
}

Reached::Slot& Reached::Held::slot_of(StateView state, std::uint32_t hash) {
    for (std::size_t at = hash;; ++at) {
        Slot& slot = slots[at & (slots.size() - 1)];
        if (slot.entry == Slot::vacant || (slot.hash == hash && entries[slot.entry].state == state)) return slot;
    }
}

void Reached::Held::grow() {
    std::pmr::vector<Slot> more(4 * slots.size(), &pool);
    for (const Slot& slot : slots) {
        if (slot.entry == Slot::vacant) continue;
        std::size_t at = slot.hash & (more.size() - 1);
        while (more[at].entry != Slot::vacant) at = (at + 1) & (more.size() - 1);
        more[at] = slot;
    }
    slots.swap(more);
}

bool Reached::narrow() {
    const std::span<const Entry> all = entries();
    std::size_t goals = 1;
    for (const Entry& entry : all) goals += entry.state.size();
    const std::size_t width = beam_width(all.size(), goals);
    if (all.size() <= width) return false;
    std::vector<Entry> followed;
    for (const std::size_t place : cheapest_places(all.size(), width, [&](std::size_t e) { return all[e].sum.cost; }))
        followed.push_back(all[place]);
    held_->entries.assign(followed.begin(), followed.end());
    return true;
}

}  // namespace cairn::search
