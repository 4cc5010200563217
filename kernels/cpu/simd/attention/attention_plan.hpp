#pragma once

#include "cairn/types.hpp"

#include <algorithm>
#include <cstdint>

/// The plan that attention_registration.cpp passes to attention.cpp, the split of the work, and the sizes of scratch
/// memory.
namespace cairn::kernels::cpu {

/// Maximal rows of a tile. A row is a query of one head; tiles contain rows whose heads share their keys.
inline constexpr std::int64_t max_tile_rows = 48;
/// If there are fewer tiles than enough_items, they are also split along the keys, down to min_keys keys.
inline constexpr std::int64_t enough_items = 16, min_keys = 512;

/// Maximal number of keys whose scores are held at once.
inline constexpr std::int64_t max_key_block = 128;

enum class AttentionMask : std::uint8_t { none, boolean, added };

struct AttentionPlan {
    float scale, masked_score;
    float softcap;  ///< 0: no softcap
    bool causal;
    std::int64_t window;  ///< a query sees at most this many keys up to its own; 0: no window
    bool has_bias;        ///< a second operand is added to the scores; its axes broadcast to [B, H, T, S]
    AttentionMask mask;
    bool mask_of_pairs;   ///< its axes broadcast to [B, H, T, S]; otherwise to [B, S]
    bool mask_hides;      ///< a boolean mask is true where keys are hidden
    bool adds_to_hidden;  ///< additive terms are added to the masked score too
    std::int64_t depth;   ///< of queries and keys
    std::int64_t value_depth;
    DType stored;            ///< dtype of keys and values
    std::int64_t key_block;  ///< keys whose scores are held at once, a multiple of 8 up to max_key_block
    std::int64_t part_rows;  ///< maximal rows of tiles that may be split along the keys

    bool may_hide() const { return causal || window > 0 || mask == AttentionMask::boolean; }
    std::int64_t few_block() const { return 2 * key_block; }  ///< the same for few rows
    /// Score stride of few rows: not a power of two, which would map rows to the same cache sets.
    std::int64_t score_stride() const { return few_block() + 16; }
    std::int64_t value_stride() const { return (value_depth + 15) / 16 * 16; }

    /// Sizes of the parts of a member's scratch, in floats.
    std::int64_t queries_size() const { return max_tile_rows * ((depth + 15) / 16 * 16); }
    std::int64_t scores_size() const { return std::max(max_tile_rows * key_block, 8 * score_stride()); }
    std::int64_t state_size(std::int64_t rows) const { return rows * (value_stride() + 2); }
    std::int64_t widened_size() const { return stored == DType::f32 ? 0 : key_block * (depth + value_depth); }
    std::int64_t bytes_per_member() const {
        const std::int64_t floats = queries_size() + scores_size() + state_size(max_tile_rows) + widened_size() +
                                    value_stride() + 2 * few_block();
        return (floats * 4 + 63) / 64 * 64;
    }
    /// Bytes of the states of all key splits: at most twice enough_items of them.
    std::int64_t bytes_of_parts() const { return 2 * enough_items * state_size(part_rows) * 4; }
};

/// The split of one call into tiles of rows for each key head, and of tiles along the keys. It depends on sizes only,
/// so results do not depend on the number of threads.
struct AttentionSplit {
    std::int64_t tiles, rows, parts, keys_of_part;

    AttentionSplit(std::int64_t heads, std::int64_t queries, std::int64_t keys, std::int64_t lanes,
                   std::int64_t max_rows, std::int64_t key_block) {
        const std::int64_t vectors = (queries + lanes - 1) / lanes, most = max_rows / lanes;
        tiles = std::max<std::int64_t>((vectors + most - 1) / most, 1);
        rows = (vectors + tiles - 1) / tiles * lanes;
        if (tiles == 1) rows = queries;
        const std::int64_t all = std::max<std::int64_t>(heads * tiles, 1);
        parts = all >= enough_items ? 1 : std::min((enough_items + all - 1) / all, (keys + min_keys - 1) / min_keys);
        parts = std::max<std::int64_t>(parts, 1);
        keys_of_part = ((keys + parts - 1) / parts + key_block - 1) / key_block * key_block;
    }
};

}  // namespace cairn::kernels::cpu
