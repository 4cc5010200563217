#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/search_state.hpp"

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
class StateTable {
public:
    struct ReachedState {
        StateView state;
        PathDag::Sum sum;
    };

    /// Adds a product to the ways to a state. True where the state is new.
    bool reach(StateView state, PathDag& dag, PathSet first, PathSet second = PathDag::empty_path, int renamed = -1);
    /// Entries may be put in another order once no more is reached.
    std::span<ReachedState> entries() noexcept { return held_ == nullptr ? std::span<ReachedState>() : held_->entries; }
    std::span<const ReachedState> entries() const noexcept {
        return held_ == nullptr ? std::span<const ReachedState>() : held_->entries;
    }
    /// Leaves the cheapest, the cheapest first, where they are more than a beam is wide. True where any had to go.
    bool prune_to_beam();
    void clear() noexcept { held_.reset(); }

private:
    /// Where a state stands among the entries. Looking for it is most of what a search does: open addressing, one hash
    /// for each way, states compared only where that agrees.
    struct Slot {
        static constexpr std::uint32_t vacant = std::numeric_limits<std::uint32_t>::max();
        std::uint32_t hash = 0, entry = vacant;
    };
    struct TableStorage {
        std::pmr::monotonic_buffer_resource pool;
        std::pmr::vector<ReachedState> entries{&pool};
        std::pmr::vector<Slot> slots{16, &pool};  // a power of two, half of them vacant at least

        Slot& slot_of(StateView state, std::uint32_t hash);
        void grow();
    };
    std::unique_ptr<TableStorage> held_;
};

}  // namespace cairn::search
