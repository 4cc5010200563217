#pragma once

#include "search/pending.hpp"
#include "search/space.hpp"

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <vector>

/// States that were reached, each with the ways to it.
namespace cairn::search {

/// States in the order they were first reached. They are many for a short while: all lies in a pool, and nobody walks
/// through it to let go of it.
class Reached {
public:
    struct Entry {
        StateView state;
        Space::Sum sum;
    };

    /// Adds a product to the ways to a state. True where the state is new.
    bool reach(StateView state, Space& space, Set first, Set second = Space::done, int renamed = -1);
    /// Entries may be put in another order once no more is reached.
    std::span<Entry> entries() noexcept { return held_ == nullptr ? std::span<Entry>() : held_->entries; }
    std::span<const Entry> entries() const noexcept {
        return held_ == nullptr ? std::span<const Entry>() : held_->entries;
    }
    /// Leaves the cheapest, the cheapest first, where they are more than a beam is wide. True where any had to go.
    bool narrow();
    void clear() noexcept { held_.reset(); }

private:
    struct Held {
        using Index = std::pmr::unordered_map<StateView, std::size_t>;
        std::pmr::monotonic_buffer_resource pool;
        std::pmr::vector<Entry> entries{&pool};
        Index* index = std::pmr::polymorphic_allocator<>(&pool).new_object<Index>();
    };
    std::unique_ptr<Held> held_;
};

}  // namespace cairn::search
