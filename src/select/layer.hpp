#pragma once

#include <functional>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

/// What the search of a region has reached and not yet left.
namespace cairn::inline v0::select {

/// A set of pending goals as codes `goal << 1 | provided`, descending. In a region a goal is its port, or port count +
/// (goal - low).
using Frontier = std::u32string;

/// The cheapest way found to a frontier.
struct Reached {
    double cost = 0;
    int before = -1;                  ///< number of the choice made before the one that led here; -1: none
    int goal = -1, alternative = -1;  ///< the choice that led here; -1 where there was nothing to choose
};

/// Frontiers, each once. There are many for a short while: they lie in a pool, and letting go of them is quick.
class Layer {
public:
    using Entries = std::pmr::unordered_map<std::u32string_view, Reached>;

    /// Enters a way to a frontier, unless one as cheap is known. True where the frontier is new.
    bool reach(std::u32string_view frontier, const Reached& reached);
    void erase(std::u32string_view frontier) { held_->entries.erase(frontier); }
    void clear() { held_.emplace(); }
    const Entries& entries() const noexcept { return held_->entries; }

private:
    struct Held {
        std::pmr::monotonic_buffer_resource pool;
        Entries entries{&pool};
    };
    std::optional<Held> held_{std::in_place};
};

}  // namespace cairn::inline v0::select
