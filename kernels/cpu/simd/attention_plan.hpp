#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// What attention_rows.cpp prepares for attention.cpp, and how both count scratch memory.
namespace cairn::inline v0::kernels::cpu {

/// A query tile holds at most this many rows; fewer than `few_queries` go one by one, without transposing keys.
inline constexpr std::int64_t max_query_tile = 72, few_queries = 4;

enum class AttentionMask : std::uint8_t { none, boolean, added };

struct AttentionPlan {
    float scale, masked_score;
    float softcap;  ///< 0 where scores are not capped
    bool causal;
    bool has_bias;  ///< a second operand is added to the scores; its axes go with [B, H, T, S]
    AttentionMask mask;
    bool mask_of_pairs;  ///< its axes go with [B, H, T, S]; else with [B, S]
    bool mask_hides;     ///< a boolean one is true where nothing may be seen
    std::int64_t depth;  ///< of queries and keys
    std::int64_t value_depth;
    DType stored;            ///< of keys and values
    std::int64_t key_block;  ///< keys whose scores are held at once, a multiple of 32

    bool may_hide() const { return causal || mask == AttentionMask::boolean; }
    std::int64_t score_stride() const {
        return key_block + 16;
    }  // no power of two: rows would fall on the same cache sets
    std::int64_t value_stride() const { return (value_depth + 15) / 16 * 16; }
    /// Floats of each part of a member's scratch: transposed keys, scores, sums of values, a row of the mask.
    std::int64_t keys_size() const { return key_block * depth; }
    std::int64_t scores_size() const { return max_query_tile * score_stride(); }
    std::int64_t sums_size() const { return max_query_tile * value_stride(); }
    std::int64_t bytes_per_member() const {
        return ((keys_size() + scores_size() + sums_size() + key_block) * 4 + 63) / 64 * 64;
    }
};

}  // namespace cairn::inline v0::kernels::cpu
