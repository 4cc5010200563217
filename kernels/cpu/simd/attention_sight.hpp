#pragma once

#include "kernels/cpu/simd/attention_plan.hpp"
#include "kernels/cpu/simd/row_walk.hpp"

#include <algorithm>

/// A tile of attention: its rows, where each finds what belongs to it, which keys it may see, and the memory in which
/// it is computed.
namespace CAIRN_LEVEL {

using U64 = std::uint64_t __attribute__((vector_size(4 * lanes)));
inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// Keys and values of one head as they lie.
template <typename Element>
struct Stored {
    const Element *k, *v;
    std::int64_t k_stride, v_stride;
};

/// A member's memory for the tile it works on.
struct Scratch {
    float *queries, *scores, *state, *widened, *unseen, *mask_row, *no_weights;

    Scratch(const AttentionPlan& plan, std::byte* memory) {
        float* next = reinterpret_cast<float*>(memory);
        const auto take = [&](std::int64_t floats) {
            float* const taken = next;
            next += floats;
            return taken;
        };
        queries = take(plan.queries_size());
        scores = take(plan.scores_size());
        state = take(plan.state_size(max_tile_rows));
        widened = take(plan.widened_size());
        unseen = take(plan.value_stride());
        mask_row = take(plan.few_block());
        no_weights = take(plan.few_block());
        std::memset(no_weights, 0, static_cast<std::size_t>(plan.few_block()) * sizeof(float));
    }
};

/// What is known of a tile's rows after some keys: the largest score of each, the sum of weights relative to it, and of
/// values so weighted.
struct State {
    float *largest, *total, *sums;

    State(float* memory, std::int64_t rows) : largest(memory), total(memory + rows), sums(memory + 2 * rows) {}
};

struct Tile {
    const AttentionPlan& plan;
    Scratch& scratch;
    State state;
    std::int64_t rows, keys;

    Tile(const AttentionPlan& of, Scratch& memory, State known, std::int64_t row_count, std::int64_t key_count)
        : plan(of), scratch(memory), state(known), rows(row_count), keys(key_count) {}

    const float* q[max_tile_rows];
    float* out[max_tile_rows];
    const std::byte *mask[max_tile_rows]{}, *bias[max_tile_rows]{};  ///< of key 0
    std::int64_t mask_stride = 0, bias_stride = 0;                   ///< from key to key
    bool same_mask = true, same_bias = true;                         ///< for all rows
    std::int64_t since[max_tile_rows], limit[max_tile_rows];  ///< keys that may be seen, by causal rule and window
    const std::byte* is_finite = nullptr;  ///< of each block of keys, whether all values are; null: not known
    float shrink[max_tile_rows];

    /// Of the keys [begin, end) those that any row may see: the later a row, the later its first key and its last.
    std::int64_t first_seen(std::int64_t begin, std::int64_t end) const { return std::clamp(since[0], begin, end); }
    std::int64_t last_seen(std::int64_t begin, std::int64_t end) const {
        return std::clamp(limit[rows - 1], first_seen(begin, end), end);
    }
};

/// Whether a byte of a boolean mask lets its key be seen.
inline bool shows(const Tile& tile, std::byte mark) { return (mark != std::byte{0}) != tile.plan.mask_hides; }

inline bool is_visible(const Tile& tile, std::int64_t row, std::int64_t key) {
    if (key < tile.since[row] || key >= tile.limit[row]) return false;
    return tile.plan.mask != AttentionMask::boolean || shows(tile, tile.mask[row][key * tile.mask_stride]);
}

/// What a boolean mask lets the rows see of some keys.
enum class Sight : std::uint8_t { nothing, some, everything };

inline Sight sight_of(const Tile& tile, std::int64_t begin, std::int64_t count) {
    if (tile.plan.mask != AttentionMask::boolean) return Sight::everything;
    using Bytes = signed char __attribute__((vector_size(4 * lanes)));
    constexpr std::int64_t width = sizeof(Bytes);
    std::uint64_t set = 0, unset = 0;
    for (std::int64_t row = 0; row < (tile.same_mask ? 1 : tile.rows); ++row) {
        const std::byte* const mask = tile.mask[row] + begin * tile.mask_stride;
        std::int64_t j = 0;
        Bytes is_set{}, is_unset{};
        for (; tile.mask_stride == 1 && j + width <= count; j += width) {
            Bytes marks;
            std::memcpy(&marks, mask + j, width);
            is_set |= marks != 0;
            is_unset |= marks == 0;
        }
        for (std::int64_t word = 0; word < width / 8; ++word) {
            set |= std::bit_cast<U64>(is_set)[word];
            unset |= std::bit_cast<U64>(is_unset)[word];
        }
        for (; j < count; ++j) (mask[j * tile.mask_stride] != std::byte{0} ? set : unset) = 1;
        if (set != 0 && unset != 0) return Sight::some;
    }
    return (set != 0) != tile.plan.mask_hides ? Sight::everything : Sight::nothing;
}

}  // namespace CAIRN_LEVEL
