#pragma once

#include "kernels/cpu/simd/attention/attention_plan.hpp"
#include "kernels/cpu/simd/reduction/row_traversal.hpp"

#include <algorithm>

/// A query tile of attention: its rows with their operands and visible keys, and its scratch memory.
namespace CAIRN_LEVEL {

using U64 = std::uint64_t __attribute__((vector_size(4 * lanes)));
inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// Keys and values of one head, read in place.
template <typename Element>
struct KeyValueView {
    const Element *k, *v;
    std::int64_t k_stride, v_stride;
};

/// Scratch memory of a team member for its current tile.
struct AttentionScratch {
    float *queries, *scores, *state, *widened, *unseen, *mask_row, *zero_weights;

    AttentionScratch(const AttentionPlan& plan, std::byte* memory) {
        float* next = reinterpret_cast<float*>(memory);
        const auto allocate = [&](std::int64_t floats) {
            float* const allocated = next;
            next += floats;
            return allocated;
        };
        queries = allocate(plan.queries_size());
        scores = allocate(plan.scores_size());
        state = allocate(plan.state_size(max_tile_rows));
        widened = allocate(plan.widened_size());
        unseen = allocate(plan.value_stride());
        mask_row = allocate(plan.few_block());
        zero_weights = allocate(plan.few_block());
        std::memset(zero_weights, 0, static_cast<std::size_t>(plan.few_block()) * sizeof(float));
    }
};

/// The online softmax state of a tile's rows after some keys: the largest score of each row, the sum of weights
/// relative to it, and the sum of values with these weights.
struct OnlineSoftmaxState {
    std::int64_t rows;
    float *largest, *total, *sums;

    OnlineSoftmaxState(float* memory, std::int64_t count)
        : rows(count), largest(memory), total(memory + rows), sums(memory + 2 * rows) {}
};

struct QueryTile {
    const AttentionPlan& plan;
    AttentionScratch& scratch;
    OnlineSoftmaxState state;
    std::int64_t rows, keys;

    QueryTile(const AttentionPlan& of, AttentionScratch& memory, OnlineSoftmaxState known, std::int64_t row_count,
              std::int64_t key_count)
        : plan(of), scratch(memory), state(known), rows(row_count), keys(key_count) {}

    const float* q[max_tile_rows];
    float* out[max_tile_rows];
    const std::byte *mask[max_tile_rows]{}, *bias[max_tile_rows]{};  ///< at key 0
    std::int64_t mask_stride = 0, bias_stride = 0;                   ///< from key to key
    bool same_mask = true, same_bias = true;                         ///< all rows share them
    std::int64_t key_begin[max_tile_rows],
        key_end[max_tile_rows];            ///< keys visible by causal rule and window
    const std::byte* is_finite = nullptr;  ///< per block of keys: all values are finite; null: not known
    float rescale[max_tile_rows];

    /// First key and end of the keys in [begin, end) that any row may see. Later rows begin and end later.
    std::int64_t first_visible(std::int64_t begin, std::int64_t end) const {
        return std::clamp(key_begin[0], begin, end);
    }
    std::int64_t last_visible(std::int64_t begin, std::int64_t end) const {
        return std::clamp(key_end[rows - 1], first_visible(begin, end), end);
    }
};

/// True if a byte of a boolean mask makes its key visible.
inline bool mask_shows(const QueryTile& tile, std::byte mark) { return (mark != std::byte{0}) != tile.plan.mask_hides; }

inline bool is_visible(const QueryTile& tile, std::int64_t row, std::int64_t key) {
    if (key < tile.key_begin[row] || key >= tile.key_end[row]) return false;
    return tile.plan.mask != AttentionMask::boolean || mask_shows(tile, tile.mask[row][key * tile.mask_stride]);
}

/// Mask or bias elements of a row for `count` keys from `begin` on, contiguous: in place, or copied to scratch.
template <typename T>
const T* row_of(const QueryTile& tile, const std::byte* row, std::int64_t stride, std::int64_t begin,
                std::int64_t count) {
    const T* from = reinterpret_cast<const T*>(row) + begin * stride;
    if (stride == 1) return from;
    T* to = reinterpret_cast<T*>(tile.scratch.mask_row);
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[j * stride];
    return to;
}

/// The keys that a boolean mask lets the rows see: none outside of [begin, end), some or all within.
struct VisibleKeys {
    std::int64_t begin, end;
    bool has_hidden;
};

/// The visible keys of `count` keys from `begin` on; at most few_block() of them.
inline VisibleKeys visible_keys(const QueryTile& tile, std::int64_t begin, std::int64_t count) {
    if (tile.plan.mask != AttentionMask::boolean) return {begin, begin + count, false};
    using Bytes = signed char __attribute__((vector_size(4 * lanes)));
    constexpr std::int64_t width = sizeof(Bytes);
    alignas(64) signed char set[2 * max_key_block]{}, unset[2 * max_key_block]{};  // per key: set or unset in any row
    for (std::int64_t row = 0; row < (tile.same_mask ? 1 : tile.rows); ++row) {
        const std::byte* const mask = row_of<std::byte>(tile, tile.mask[row], tile.mask_stride, begin, count);
        const auto add = [&](std::int64_t at, std::size_t bytes) __attribute__((always_inline)) {
            Bytes marks{}, is_set, is_unset;
            std::memcpy(&marks, mask + at, bytes);
            std::memcpy(&is_set, set + at, width);
            std::memcpy(&is_unset, unset + at, width);
            is_set |= marks != 0;
            is_unset |= marks == 0;
            std::memcpy(set + at, &is_set, width);
            std::memcpy(unset + at, &is_unset, width);
        };
        std::int64_t j = 0;
        for (; j + width <= count; j += width) add(j, width);
        if (j == count) continue;
        // The last vector overlaps the one before, if the row is long enough.
        if (count >= width)
            add(count - width, width);
        else
            add(0, static_cast<std::size_t>(count));
    }
    const signed char *const shown = tile.plan.mask_hides ? unset : set, *const hidden = shown == set ? unset : set;
    std::int64_t first = 0, last = count;
    while (first < last && shown[first] == 0) ++first;
    while (last > first && shown[last - 1] == 0) --last;
    const bool has_hidden = std::memchr(hidden + first, 255, static_cast<std::size_t>(last - first)) != nullptr;
    return {begin + first, begin + last, has_hidden};
}

}  // namespace CAIRN_LEVEL
