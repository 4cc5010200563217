#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/search_state.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

/// Table of reached states, each with the sum of the paths to it.
namespace cairn::search {

/// States in the order they were first reached. There are many for a short time, so all storage is in a pool that is
/// freed at once.
class StateTable {
public:
    struct ReachedState {
        StateView state;
        PathDag::Sum sum;
    };

    /// Adds a product to the paths to a state. True if the state is new.
    bool reach(StateView state, PathDag& dag, PathSet first, PathSet second = PathDag::empty_path, int renamed = -1);
    /// The entries may be reordered once no more states are reached.
    std::span<ReachedState> entries() noexcept {
        return storage_ == nullptr ? std::span<ReachedState>() : storage_->entries;
    }
    std::span<const ReachedState> entries() const noexcept {
        return storage_ == nullptr ? std::span<const ReachedState>() : storage_->entries;
    }
    /// Keeps the cheapest states, cheapest first, if there are more than the beam width. True if any was removed. To
    /// the cost of an entry that of what `remaining` expects is added.
    bool prune_to_beam(const std::function<double(StateView)>& remaining = {});
    /// Keeps the entries of these indices, in their order. No more states are reached then.
    void keep(std::span<const std::size_t> indices);
    void clear() noexcept { storage_.reset(); }

private:
    /// Index of a state among the entries. Lookups dominate the time of a search: open addressing, one hash for each
    /// lookup, and states are compared only if their hashes agree.
    struct Slot {
        static constexpr std::uint32_t vacant = std::numeric_limits<std::uint32_t>::max();
        std::uint32_t hash = 0, entry = vacant;
    };
    struct TableStorage {
        std::pmr::monotonic_buffer_resource pool;
        std::pmr::vector<ReachedState> entries{&pool};
        std::pmr::vector<Slot> slots{16, &pool};  // a power of two, at least half of them vacant

        Slot& slot_of(StateView state, std::uint32_t hash);
        void grow();
    };
    std::unique_ptr<TableStorage> storage_;
};

}  // namespace cairn::search
