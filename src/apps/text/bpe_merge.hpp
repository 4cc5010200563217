#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::text {

/// The id of a byte or character without a token; BpeMerger leaves it out.
inline constexpr std::int32_t no_token = -1;

/// The pairs of tokens that merge to one token, with their ranks; the lowest rank merges first.
class MergeTable {
public:
    struct Merge {
        std::int32_t rank;
        std::int32_t result;
    };

    void reserve(std::size_t count) { merges_.reserve(count); }

    /// Returns false and changes nothing if the pair is already in the table.
    bool add(std::int32_t left, std::int32_t right, Merge merge) {
        return merges_.emplace(key(left, right), merge).second;
    }

    /// Null if the pair does not merge.
    const Merge* find(std::int32_t left, std::int32_t right) const {
        const auto found = merges_.find(key(left, right));
        return found == merges_.end() ? nullptr : &found->second;
    }

private:
    static std::uint64_t key(std::int32_t left, std::int32_t right) {
        return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
    }

    std::unordered_map<std::uint64_t, Merge> merges_;
};

/// Merges the tokens of one word by rank, the leftmost of equal ranks first: with h+e, l+l, he+ll in this order,
/// [h e l l o] -> [he l l o] -> [he ll o] -> [hell o].
/// Uses a heap of candidate pairs and a linked list of tokens. n tokens push at most 3n pairs, so the complexity is
/// O(n log n) for any word. An object is scratch memory for one call of encode.
class BpeMerger {
public:
    explicit BpeMerger(const MergeTable& table) : table_(&table) {}

    /// Merges `word` in place, leaves out ids below 0, and returns the number of pairs popped from the heap.
    std::size_t merge(std::vector<std::int32_t>& word);

private:
    struct Symbol {
        std::int32_t id;  // -1: merged into its left neighbour
        std::int32_t previous;
        std::int32_t next;
    };

    struct Pair {
        std::int32_t rank;
        std::int32_t left;  // index of the left symbol

        bool operator<(const Pair& other) const {  // std::push_heap keeps the largest on top
            return rank != other.rank ? rank > other.rank : left > other.left;
        }
    };

    void push_pair(std::int32_t left);

    const MergeTable* table_;
    std::vector<Symbol> symbols_;
    std::vector<Pair> heap_;
};

}  // namespace cairn::inline v0::text
