#pragma once

#include "kernels/cpu/simd/attention/attention_query_tile.hpp"
#include "kernels/cpu/simd/attention/attention_tile.hpp"
#include "kernels/cpu/simd/attention/softcap.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"

/// Attention for few rows: each key and value is read once for all of them, in place. The scores of a row are
/// contiguous.
namespace CAIRN_LEVEL {

inline constexpr std::int64_t few_rows = lanes / 2;

/// Calls f with `count`, at most `Most`, as a compile-time constant.
template <int Most, typename F>
CAIRN_INLINE void with_count(std::int64_t count, F f) {
    if constexpr (Most > 0) {
        if (count == Most) return f(std::integral_constant<int, Most>());
        return with_count<Most - 1>(count, f);
    }
}

/// Applies softcap, bias and masks to a row's scores of `count` keys from `begin` on. `has_hidden`: a boolean mask
/// hides some of them.
inline void mask_row(const QueryTile& tile, float* s, std::int64_t row, std::int64_t begin, std::int64_t count,
                     bool has_hidden) {
    const F32 never = splat(-infinity);
    if (tile.plan.softcap > 0) {
        const Softcap capped(tile.plan.softcap);
        map_row(s, count, [&](auto at) { return capped(at(s)); });
    }
    if (tile.plan.has_bias) {
        const float* bias = row_of<float>(tile, tile.bias[row], tile.bias_stride, begin, count);
        map_row(s, count, [&](auto at) { return at(s) + at(bias); });
    }
    if (tile.plan.mask == AttentionMask::added) {
        const float* mask = row_of<float>(tile, tile.mask[row], tile.mask_stride, begin, count);
        map_row(s, count, [&](auto at) { return at(s) + at(mask); });
    }
    if (has_hidden) {
        const std::byte* mask = row_of<std::byte>(tile, tile.mask[row], tile.mask_stride, begin, count);
        const I32 hides = splat(tile.plan.mask_hides ? -1 : 0);
        for (std::int64_t j = 0; j < count; j += lanes) {
            const std::int64_t n = count - j < lanes ? count - j : lanes;
            const I32 is_seen = (load_bytes(mask + j, n) != 0) ^ hides;
            store_some(s + j, is_seen ? load_some(s + j, n) : never, n);
        }
    }
    for (std::int64_t j = 0; j < count && begin + j < tile.key_begin[row]; ++j) s[j] = -infinity;
    for (std::int64_t j = count; j > 0 && begin + j > tile.key_end[row]; --j) s[j - 1] = -infinity;
}

/// scores[r][j] = queries[r] . keys[j], R rows at a time, then the remaining rows. `ahead`: values to prefetch, or
/// null.
template <int R, typename Element>
void score_keys(float* scores, std::int64_t score_stride, const float* queries, std::int64_t rows, std::int64_t depth,
                std::int64_t query_stride, const Element* keys, std::int64_t stride, std::int64_t count,
                const Element* ahead = nullptr, std::int64_t ahead_stride = 0, std::int64_t ahead_depth = 0) {
    const std::int64_t whole = depth / lanes * lanes;
    // The tail reads the last key again; the extra scores are not kept.
    const auto key = [&](std::int64_t j) { return keys + (j < count ? j : count - 1) * stride; };
    for (; rows >= R; rows -= R, scores += R * score_stride, queries += R * query_stride) {
        for (std::int64_t j = 0; j < count; j += 4) {
            const FourKeys<Element> four{{key(j), key(j + 1), key(j + 2), key(j + 3)}};
            for (std::int64_t i = j; ahead != nullptr && i < j + 4 && i < count; ++i)
                for (std::int64_t d = 0; d < ahead_depth; d += static_cast<std::int64_t>(64 / sizeof(Element)))
                    prefetch(ahead + i * ahead_stride + d);
            F4 sums[R];
            key_tile<R>(sums, queries, query_stride, four, whole);
            for (int r = 0; r < R; ++r) {
                if (whole < depth) add_part_of_keys(sums + r, queries + r * query_stride, four, whole, depth - whole);
                float* const to = scores + r * score_stride + j;
                if (count - j >= 4)
                    *reinterpret_cast<F4Memory*>(to) = sums[r];
                else
                    for (std::int64_t i = 0; i < count - j; ++i) to[i] = sums[r][i];
            }
        }
        ahead = nullptr;
    }
    if constexpr (R > 1)
        if (rows > 0)
            score_keys<R / 2>(scores, score_stride, queries, rows, depth, query_stride, keys, stride, count, ahead,
                              ahead_stride, ahead_depth);
}

/// Adds whole vectors of values from `column` on for R rows: C vectors at a time, then fewer. Returns the column after
/// them.
template <int R, int C, typename Element>
CAIRN_INLINE std::int64_t add_columns(float* sums, const AttentionPlan& plan, const float* weights,
                                      const float* rescale, const Element* values, std::int64_t stride,
                                      std::int64_t keys, std::int64_t column, const Element* ahead) {
    for (; column + C * lanes <= plan.value_depth; column += C * lanes)
        row_tile<R, C, false>(sums + column, plan.value_stride(), weights, plan.score_stride(), values + column, stride,
                              keys, 0, rescale, ahead == nullptr ? nullptr : ahead + column);
    if constexpr (C > 1)
        return add_columns<R, C / 2>(sums, plan, weights, rescale, values, stride, keys, column, ahead);
    else
        return column;
}

/// sums[r] = sums[r] * rescale[r] + weights[r] . values. `ahead`: data to prefetch with the values' stride, or null.
template <int R, typename Element>
void add_values(float* sums, const AttentionPlan& plan, const float* weights, const float* rescale,
                const Element* values, std::int64_t stride, std::int64_t keys, const Element* ahead = nullptr) {
    constexpr int columns = R == 1 ? 8 : R == 2 || (lanes == 16 && R <= 4) ? 4 : 2;
    const std::int64_t column = add_columns<R, columns>(sums, plan, weights, rescale, values, stride, keys, 0, ahead);
    if (column < plan.value_depth)
        row_tile<R, 1, true>(sums + column, plan.value_stride(), weights, plan.score_stride(), values + column, stride,
                             keys, plan.value_depth - column, rescale, static_cast<const Element*>(nullptr));
}

/// Online softmax of a row: scores to weights e^(score - largest so far).
inline void softmax_row(QueryTile& tile, float* s, std::int64_t row, std::int64_t count) {
    OnlineSoftmaxState& state = tile.state;
    const float before = state.largest[row], block_max = max_row(s, count);
    const float largest = block_max > before ? block_max : before;
    // If all scores so far are -inf, any base will do: all weights are 0.
    const F32 base = splat(largest == -infinity ? 0.0f : largest);
    const float sum = map_sum_row(s, s, count, [&](F32 v) { return exp_negative(v - base); });
    tile.rescale[row] = exp_negative(splat(before) - base)[0];
    state.total[row] = state.total[row] * tile.rescale[row] + sum;
    state.largest[row] = largest;
}

/// Packs the scaled queries of the tile contiguously; returns their stride.
inline std::int64_t pack_rows(const QueryTile& tile) {
    const std::int64_t depth = tile.plan.depth, stride = (depth + 15) / 16 * 16;
    const F32 scale = splat(tile.plan.scale);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        const float* const q = tile.q[row];
        map_row(tile.scratch.queries + row * stride, depth, [&](auto at) { return at(q) * scale; });
    }
    return stride;
}

/// Adds the visible keys of [from, to) for all rows. Calls `hide(begin, end)` for keys that are skipped.
template <typename Element, typename Hide>
void add_keys_to_few(QueryTile& tile, const KeyValueView<Element>& kv, std::int64_t from, std::int64_t to, Hide hide) {
    const AttentionPlan& plan = tile.plan;
    const std::int64_t query_stride = pack_rows(tile);
    float* const scores = tile.scratch.scores;
    // Data from memory is prefetched one block ahead: values while keys are scored, keys while values are added. For
    // data in near caches prefetches do not pay.
    constexpr std::int64_t near_bytes = 1 << 18;
    const bool is_far =
        (to - from) * (plan.depth + plan.value_depth) * static_cast<std::int64_t>(sizeof(Element)) > near_bytes;
    for (std::int64_t block = from; block < to; block += plan.few_block()) {
        const std::int64_t behind = to - block < plan.few_block() ? to : block + plan.few_block();
        const VisibleKeys sight = visible_keys(tile, block, behind - block);
        const std::int64_t begin = sight.begin, count = sight.end - begin;
        hide(block, begin);
        hide(sight.end, behind);
        if (count == 0) continue;
        score_keys<lanes == 16 ? 4 : 2>(scores, plan.score_stride(), tile.scratch.queries, tile.rows, plan.depth,
                                        query_stride, kv.k + begin * kv.k_stride, kv.k_stride, count,
                                        is_far ? kv.v + begin * kv.v_stride : nullptr, kv.v_stride, plan.value_depth);
        for (std::int64_t row = 0; row < tile.rows; ++row) {
            float* const s = scores + row * plan.score_stride();
            mask_row(tile, s, row, begin, count, sight.has_hidden);
            softmax_row(tile, s, row, count);
        }
        const bool is_next_far = is_far && kv.k_stride == kv.v_stride && to - block >= 2 * plan.few_block();
        const Element* const next = is_next_far ? kv.k + (block + plan.few_block()) * kv.k_stride : nullptr;
        with_count<static_cast<int>(few_rows)>(tile.rows, [&](auto r) {
            add_values<r>(tile.state.sums, plan, scores, tile.rescale, kv.v + begin * kv.v_stride, kv.v_stride, count,
                          next);
        });
    }
}

/// The larger number; NaN if either is NaN.
inline float larger_of(float a, float b) { return a != a || b <= a ? a : b; }

/// The largest of a row's `count` numbers; NaN if any is NaN.
[[gnu::noinline]] inline float max_of_row(const float* x, std::int64_t stride, std::int64_t count) {
    F32 most = splat(-infinity);
    std::int64_t j = 0;
    for (; stride == 1 && j + lanes <= count; j += lanes) most = max(most, load(x + j));
    float largest = reduce_lanes(most, [](F32 a, F32 b) { return max(a, b); });
    for (; j < count; ++j) largest = larger_of(largest, x[j * stride]);
    return largest;
}

/// An upper bound of what is added to any score of a row; NaN if any term is NaN.
inline float max_added(const QueryTile& tile, std::int64_t row) {
    const auto most = [&](const std::byte* from, std::int64_t stride) {
        return max_of_row(reinterpret_cast<const float*>(from), stride, tile.keys);
    };
    const bool has_mask = tile.plan.mask == AttentionMask::added;
    return (tile.plan.has_bias ? most(tile.bias[row], tile.bias_stride) : 0.0f) +
           (has_mask ? most(tile.mask[row], tile.mask_stride) : 0.0f);
}

/// The score of a key that is hidden from a row.
inline float hidden_score(const QueryTile& tile, std::int64_t row, std::int64_t key) {
    const AttentionPlan& plan = tile.plan;
    float score = plan.masked_score;
    if (!plan.adds_to_hidden) return score;
    const auto at = [&](const std::byte* from, std::int64_t stride) {
        return reinterpret_cast<const float*>(from)[key * stride];
    };
    if (plan.has_bias) score += at(tile.bias[row], tile.bias_stride);
    if (plan.mask == AttentionMask::added) score += at(tile.mask[row], tile.mask_stride);
    return score;
}

/// True if any key is hidden from a row; `most` becomes their largest score, NaN if one is NaN.
[[gnu::noinline]] inline bool any_hidden(const QueryTile& tile, std::int64_t row, float& most) {
    bool any = false;
    for (std::int64_t j = 0; j < tile.keys && (!any || tile.plan.adds_to_hidden); ++j) {
        if (is_visible(tile, row, j)) continue;
        any = true;
        const float score = hidden_score(tile, row, j);
        most = larger_of(most, score);
    }
    return any;
}

/// Writes the scores of the hidden keys among `count` from `begin` on.
[[gnu::noinline]] inline void write_hidden_scores(const QueryTile& tile, std::int64_t row, std::int64_t begin,
                                                  std::int64_t count, float* scores) {
    for (std::int64_t j = 0; j < count; ++j)
        if (!is_visible(tile, row, begin + j)) scores[j] = hidden_score(tile, row, begin + j);
}

/// Adds hidden keys to a row. A hidden key has the masked score, plus additive terms with adds_to_hidden. Next to a
/// visible score far above it, its weight is 0. If all visible scores are as low, or none is visible, the row is
/// computed again with the weights of all keys. If all scores are -inf, the result is NaN.
template <typename Element>
void add_hidden_keys(QueryTile& tile, const KeyValueView<Element>& kv, std::int64_t row, float largest, float total) {
    const AttentionPlan& plan = tile.plan;
    float most = -infinity;
    if (!any_hidden(tile, row, most)) return;
    const F32 base = splat(largest > most ? largest : most);
    if (exp_negative(splat(most) - base)[0] == 0.0f) return;
    const bool is_blind = largest == -infinity && total == 0.0f;
    float *s = tile.scratch.scores, *sums = tile.scratch.unseen, *q = tile.scratch.queries;
    const F32 scale = splat(plan.scale);
    map_row(q, plan.depth, [&](auto at) { return at(tile.q[row]) * scale; });
    map_row(sums, plan.value_stride(), [](auto) { return F32{}; });
    float all = 0.0f;
    const float same = 1.0f;
    for (std::int64_t begin = 0; begin < tile.keys; begin += plan.few_block()) {
        const std::int64_t left = tile.keys - begin, count = left < plan.few_block() ? left : plan.few_block();
        if (is_blind) {
            std::fill_n(s, count, -infinity);
        } else {
            score_keys<1>(s, 0, q, 1, plan.depth, 0, kv.k + begin * kv.k_stride, kv.k_stride, count);
            mask_row(tile, s, row, begin, count, false);
        }
        write_hidden_scores(tile, row, begin, count, s);
        map_row(s, count, [&](auto at) { return exp_negative(at(s) - base); });
        for (std::int64_t j = 0; j < count; ++j) all += s[j];
        add_values<1>(sums, plan, s, &same, kv.v + begin * kv.v_stride, kv.v_stride, count);
    }
    const F32 divisor = splat(all);
    map_row(tile.out[row], plan.value_depth, [&](auto at) { return at(sums) / divisor; });
}

}  // namespace CAIRN_LEVEL
