#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::text {

/// Which pairs of tokens become one token, and in which order: the lowest rank first.
class MergeTable {
public:
    struct Merge {
        std::int32_t rank;
        std::int32_t result;
    };

    void reserve(std::size_t count) { merges_.reserve(count); }

    /// False, and nothing changes, where the pair is listed already.
    bool add(std::int32_t left, std::int32_t right, Merge merge) {
        return merges_.emplace(key(left, right), merge).second;
    }

    /// Null where the pair does not merge.
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
/// A heap of candidate pairs over a linked list of tokens: n tokens put at most 3n pairs on the heap, so the work is
/// O(n log n) whatever the word. An object is scratch memory for one call of encode.
class BpeMerger {
public:
    explicit BpeMerger(const MergeTable& table) : table_(&table) {}

    /// Merges `word` in place and returns how many pairs went through the heap.
    std::size_t merge(std::vector<std::int32_t>& word);

private:
    struct Symbol {
        std::int32_t id;  // -1: swallowed by its left neighbour
        std::int32_t previous;
        std::int32_t next;
    };

    struct Pair {
        std::int32_t rank;
        std::int32_t left;  // place of the left symbol

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
