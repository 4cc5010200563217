#pragma once

#include "search/pending.hpp"
#include "search/space.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <span>
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
    /// Where a state stands among the entries. Looking for it is most of what a search does: open addressing, one hash
    /// for each way, states compared only where that agrees.
    struct Slot {
        static constexpr std::uint32_t vacant = std::numeric_limits<std::uint32_t>::max();
        std::uint32_t hash = 0, entry = vacant;
    };
    struct Held {
        std::pmr::monotonic_buffer_resource pool;
        std::pmr::vector<Entry> entries{&pool};
        std::pmr::vector<Slot> slots{16, &pool};  // a power of two, half of them vacant at least

        Slot& slot_of(StateView state, std::uint32_t hash);
        void grow();
    };
    std::unique_ptr<Held> held_;
};

}  // namespace cairn::search
