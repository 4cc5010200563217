#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cairn::types {

/// Multimap from hashes to numbers: an open-addressing table in one block. Entries are never removed.
///
///     index.add(hash, 7);   index.each(hash, visit)   calls visit(7), and may call it for numbers of another hash
class HashIndex {
public:
    void add(std::size_t hash, std::uint32_t number) {
        if (2 * ++count_ > slots_.size()) grow();
        place({spread(hash), number});
    }
    template <typename F>
    void each(std::size_t hash, const F& visit) const {
        if (slots_.empty()) return;
        const std::uint32_t wanted = spread(hash);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = wanted & mask; slots_[at].number != none; at = (at + 1) & mask)
            if (slots_[at].hash == wanted) visit(slots_[at].number);
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    struct Slot {
        std::uint32_t hash = 0, number = none;
    };

    static std::uint32_t spread(std::size_t hash) {
        return static_cast<std::uint32_t>((std::uint64_t{hash} * 0x9e3779b97f4a7c15U) >> 32);
    }
    void place(const Slot& entry) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = entry.hash & mask;
        while (slots_[at].number != none) at = (at + 1) & mask;
        slots_[at] = entry;
    }
    void grow() {
        std::vector<Slot> before(slots_.empty() ? 16 : 2 * slots_.size());
        before.swap(slots_);
        for (const Slot& entry : before)
            if (entry.number != none) place(entry);
    }

    std::vector<Slot> slots_;  // the size is a power of two; at most half are in use
    std::size_t count_ = 0;
};

}  // namespace cairn::types
