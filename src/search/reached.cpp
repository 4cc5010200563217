#include "search/reached.hpp"

#include "search/beam.hpp"

namespace cairn::search {

bool Reached::reach(StateView state, Space& space, Set first, Set second, int renamed) {
    if (held_ == nullptr) held_ = std::make_unique<Held>();
    const auto known = held_->index->find(state);
    const bool is_new = known == held_->index->end();
    const std::size_t place = is_new ? held_->entries.size() : known->second;
    if (is_new) {
        held_->entries.push_back({kept(state, held_->pool), {}});
        held_->index->emplace(held_->entries.back().state, place);
    }
    space.add(held_->entries[place].sum, first, second, renamed);
    return is_new;
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
