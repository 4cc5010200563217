#include "select/layer.hpp"

#include <algorithm>

namespace cairn::inline v0::select {

bool Layer::reach(std::u32string_view frontier, const Reached& reached) {
    const auto known = held_->entries.find(frontier);
    if (known != held_->entries.end()) {
        if (reached.cost < known->second.cost) known->second = reached;
        return false;
    }
    const std::size_t bytes = frontier.size() * sizeof(char32_t);
    auto* const place = static_cast<char32_t*>(held_->pool.allocate(bytes, alignof(char32_t)));
    std::copy(frontier.begin(), frontier.end(), place);
    held_->entries.emplace(std::u32string_view(place, frontier.size()), reached);
    return true;
}

}  // namespace cairn::inline v0::select
