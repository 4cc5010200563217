#include "select/layer.hpp"

#include "types/pooled.hpp"

namespace cairn::inline v0::select {

bool Layer::reach(std::u32string_view frontier, const Reached& reached) {
    const auto known = held_->entries.find(frontier);
    if (known != held_->entries.end()) {
        if (reached.cost < known->second.cost) known->second = reached;
        return false;
    }
    const auto kept = types::pooled(std::span<const char32_t>(frontier), held_->pool);
    held_->entries.emplace(std::u32string_view(kept.data(), kept.size()), reached);
    return true;
}

}  // namespace cairn::inline v0::select
