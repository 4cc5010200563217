#pragma once

#include "kernels/cpu/simd/attention/attention_few_rows.hpp"
#include "kernels/cpu/simd/vector/byte_transpose.hpp"
#include "kernels/cpu/simd/vector/lane_shuffles.hpp"

/// Attention for many rows, vectorised over rows: rows are the lanes of scores and weights. The softmax needs no
/// horizontal reduction, and neither keys nor values nor sums need a transpose. The rows of a vector skip hidden keys
/// together, except for the few keys at the edge of the visible range. Values are processed for a few rows at a time,
/// which see nearly the same keys.
namespace CAIRN_LEVEL {

/// Rows of a group that share a pass over the values: as few as keep the multiply-adds busy, since all go through the
/// keys that any of them sees.
inline constexpr int value_rows = 4;

/// Keys [begin, end) of a block that the row vectors [first, behind) process.
struct KeyRange {
    std::int64_t begin, end;
    int first, behind;
};

/// True if half a vector takes less time than a whole one.
inline constexpr bool has_halves = lanes == 16;

struct ManyRowsTile {
    QueryTile& tile;
    int vectors;
    std::int64_t width;                                   ///< rows, rounded up to whole vectors
    std::int64_t block = 0, behind = 0;                   ///< the current block of keys
    std::int64_t begin[tile_vectors], end[tile_vectors];  ///< of the block's keys, those that each vector processes
    std::int64_t whole_end[tile_vectors];  ///< from there on, for one step, only the later half of the vector does
    KeyRange ranges[2 * tile_vectors];
    int range_count = 0;
    bool has_sums[max_tile_rows / value_rows]{};  ///< per row group: its sums are initialised

    explicit ManyRowsTile(QueryTile& of)
        : tile(of), vectors(static_cast<int>((of.rows + lanes - 1) / lanes)), width(vectors * lanes) {
        for (std::int64_t row = tile.rows; row < width; ++row) {
            tile.q[row] = tile.q[tile.rows - 1];
            tile.mask[row] = tile.mask[tile.rows - 1];
            tile.bias[row] = tile.bias[tile.rows - 1];
            tile.key_begin[row] = tile.key_begin[tile.rows - 1];
            tile.key_end[row] = tile.key_end[tile.rows - 1];
        }
    }
    float* scores(std::int64_t key, int vector) const {
        return tile.scratch.scores + (key - block) * width + vector * lanes;
    }
    /// First key and end of the keys in [from, to) that a vector processes, rounded to whole tile steps from `from` on.
    std::int64_t first_key(int vector, std::int64_t from, std::int64_t to) const {
        const std::int64_t key_begin = tile.key_begin[vector * lanes];
        if (key_begin <= from) return from;
        const std::int64_t first = from + (key_begin - from) / tile_steps * tile_steps;
        return first < to ? first : to;
    }
    std::int64_t last_key(int vector, std::int64_t from, std::int64_t to, int lane = lanes - 1) const {
        const std::int64_t key_end = tile.key_end[vector * lanes + lane];
        if (key_end <= from) return from;
        const std::int64_t last = from + (key_end - from + tile_steps - 1) / tile_steps * tile_steps;
        return last < to ? last : to;
    }
    /// First key and end of the keys in [from, to) that any row of the group at `row` sees.
    std::int64_t first_of(std::int64_t row, std::int64_t from, std::int64_t to) const {
        return std::clamp(tile.key_begin[row], from, to);
    }
    std::int64_t last_of(std::int64_t row, std::int64_t from, std::int64_t to) const {
        return std::clamp(tile.key_end[row + value_rows - 1], from, to);
    }
    /// Computes the key ranges of all vectors in the block [from, to). Later rows begin and end later.
    void open(std::int64_t from, std::int64_t to) {
        block = from, behind = to;
        range_count = 0;
        for (int v = 0; v < vectors; ++v) {
            begin[v] = first_key(v, from, to);
            end[v] = last_key(v, from, to);
            const std::int64_t half = last_key(v, from, to, lanes / 2 - 1);
            whole_end[v] = has_halves && end[v] - half == tile_steps && half >= begin[v] ? half : end[v];
        }
        for (std::int64_t at = begin[0], next; at < whole_end[vectors - 1]; at = next) {
            int first = 0, behind = 0;
            next = whole_end[vectors - 1];
            for (int v = 0; v < vectors; ++v) {
                if (whole_end[v] <= at) {
                    first = v + 1;
                } else if (begin[v] <= at) {
                    behind = v + 1;
                    next = std::min(next, whole_end[v]);
                } else {
                    next = std::min(next, begin[v]);
                }
            }
            if (first < behind) ranges[range_count++] = {at, next, first, behind};
        }
    }
};

/// Packs the scaled queries, transposed.
inline void pack_queries(const ManyRowsTile& wide) {
    const QueryTile& tile = wide.tile;
    const F32 scale = splat(tile.plan.scale);
    for (int v = 0; v < wide.vectors; ++v)
        for (std::int64_t d = 0; d < tile.plan.depth; d += lanes) {
            const std::int64_t left = tile.plan.depth - d, part = left < lanes ? left : lanes;
            float* const to = tile.scratch.queries + d * wide.width + v * lanes;
            transpose_square<F32>([&](int i) { return load_some(tile.q[v * lanes + i] + d, part); },
                                  [&](int i, F32 x) {
                                      if (i < part) store(to + i * wide.width, x * scale);
                                  });
        }
}

/// Adds a bias or additive mask, stored key by key for each row, to the scores of the keys that each vector processes.
inline void add_bias(const ManyRowsTile& wide, const std::byte* const* rows, bool same, std::int64_t stride) {
    const auto at = [&](std::int64_t row, std::int64_t key) {
        return reinterpret_cast<const float*>(rows[row])[(wide.block + key) * stride];
    };
    for (int v = 0; v < wide.vectors; ++v) {
        float* const scores = wide.tile.scratch.scores + v * lanes;
        std::int64_t j = wide.begin[v] - wide.block;
        const std::int64_t count = wide.end[v] - wide.block;
        for (; !same && stride == 1 && j + lanes <= count; j += lanes) {
            const auto row = [&](int i) {
                return load(reinterpret_cast<const float*>(rows[v * lanes + i]) + wide.block + j);
            };
            transpose_square<F32>(row, [&](int i, F32 x) {
                float* const s = scores + (j + i) * wide.width;
                store(s, load(s) + x);
            });
        }
        for (; j < count; ++j) {
            F32 x = splat(at(v * lanes, j));
            for (int i = 1; !same && i < lanes; ++i) x[i] = at(v * lanes + i, j);
            float* const s = scores + j * wide.width;
            store(s, load(s) + x);
        }
    }
}

/// Applies a boolean mask per row: hides the marked keys, or the unmarked ones.
template <bool marks_hide>
void apply_boolean_mask(const ManyRowsTile& wide) {
    const QueryTile& tile = wide.tile;
    const F32 never = splat(-infinity);
    for (int v = 0; v < wide.vectors; ++v) {
        const std::byte* const* const rows = tile.mask + v * lanes;
        float* const scores = wide.tile.scratch.scores + v * lanes;
        const auto hide = [&](std::int64_t key, I32 marks) __attribute__((always_inline)) {
            float* const s = scores + key * wide.width;
            if constexpr (marks_hide)
                store(s, marks != 0 ? never : load(s));
            else
                store(s, marks != 0 ? load(s) : never);
        };
        std::int64_t j = wide.begin[v] - wide.block;
        const std::int64_t count = wide.end[v] - wide.block;
        for (; tile.mask_stride == 1 && j + transposed_row_bytes <= count; j += transposed_row_bytes) {
            I32 fours[transposed_row_bytes / 4];
            load_transposed_bytes(rows, wide.block + j, fours);
#pragma GCC unroll 16
            for (int i = 0; i < transposed_row_bytes; ++i)
                hide(j + i, fours[i / 4] & splat(static_cast<std::int32_t>(255U << (i % 4 * 8))));
        }
        for (; j < count; ++j) {
            I32 marks;
            for (int i = 0; i < lanes; ++i)
                marks[i] = static_cast<std::int32_t>(rows[i][(wide.block + j) * tile.mask_stride]);
            hide(j, marks);
        }
    }
}

/// Hides the keys outside each row's causal range and window.
inline void apply_causal_window(const ManyRowsTile& wide) {
    const QueryTile& tile = wide.tile;
    const F32 never = splat(-infinity);
    for (int v = 0; v < wide.vectors; ++v) {
        const std::int64_t first = v * lanes, last = first + lanes - 1;
        const auto within_block = [&](const std::int64_t* edges) {
            alignas(4 * lanes) std::int32_t positions[lanes];
            for (int i = 0; i < lanes; ++i)
                positions[i] = static_cast<std::int32_t>(
                    std::clamp<std::int64_t>(edges[first + i] - wide.block, 0, tile.plan.key_block));
            I32 all;
            std::memcpy(&all, positions, sizeof all);
            return all;
        };
        const auto hide = [&](std::int64_t from, std::int64_t to, auto is_hidden) {
            for (std::int64_t j = from; j < to; ++j) {
                float* const s = wide.scores(j, v);
                store(s, is_hidden(splat(static_cast<std::int32_t>(j - wide.block))) ? never : load(s));
            }
        };
        if (tile.key_begin[last] > wide.begin[v]) {
            const I32 key_begin = within_block(tile.key_begin);
            hide(wide.begin[v], std::min(tile.key_begin[last], wide.end[v]), [&](I32 j) { return j < key_begin; });
        }
        if (tile.key_end[first] < wide.end[v]) {
            const I32 key_end = within_block(tile.key_end);
            hide(std::max(tile.key_end[first], wide.begin[v]), wide.end[v], [&](I32 j) { return j >= key_end; });
        }
    }
}

/// Applies softcap, bias and masks to the block's scores. `has_hidden`: a boolean mask hides some of its keys.
inline void mask_block(const ManyRowsTile& wide, bool has_hidden) {
    const QueryTile& tile = wide.tile;
    const F32 never = splat(-infinity);
    if (tile.plan.softcap > 0) {
        const Softcap capped(tile.plan.softcap);
        for (int v = 0; v < wide.vectors; ++v)
            for (std::int64_t j = wide.begin[v]; j < wide.end[v]; ++j) {
                float* const s = wide.scores(j, v);
                store(s, capped(load(s)));
            }
    }
    if (tile.plan.has_bias) add_bias(wide, tile.bias, tile.same_bias, tile.bias_stride);
    if (tile.plan.mask == AttentionMask::added) {
        add_bias(wide, tile.mask, tile.same_mask, tile.mask_stride);
    } else if (has_hidden && tile.same_mask) {
        for (std::int64_t j = wide.begin[0]; j < wide.end[wide.vectors - 1]; ++j) {
            if (mask_shows(tile, tile.mask[0][j * tile.mask_stride])) continue;
            for (int v = 0; v < wide.vectors; ++v) store(wide.scores(j, v), never);
        }
    } else if (has_hidden) {
        tile.plan.mask_hides ? apply_boolean_mask<true>(wide) : apply_boolean_mask<false>(wide);
    }
    apply_causal_window(wide);
}

/// Online softmax of each vector: scores to weights e^(score - largest so far).
inline void softmax_block(const ManyRowsTile& wide) {
    QueryTile& tile = wide.tile;
    for (int v = 0; v < wide.vectors; ++v) {
        const std::int64_t count = wide.end[v] - wide.begin[v], width = wide.width;
        if (count <= 0) continue;
        float* s = wide.scores(wide.begin[v], v);
        F32 m[4] = {splat(-infinity), splat(-infinity), splat(-infinity), splat(-infinity)};
        std::int64_t j = 0;
        for (; j + 4 <= count; j += 4) {
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) m[i] = quick_max(load(s + (j + i) * width), m[i]);
        }
        for (; j < count; ++j) m[0] = quick_max(load(s + j * width), m[0]);
        OnlineSoftmaxState& state = tile.state;
        const F32 before = load(state.largest + v * lanes);
        const F32 largest = quick_max(quick_max(quick_max(m[0], m[1]), quick_max(m[2], m[3])), before);
        // If all scores so far are -inf, any base will do: all weights are 0.
        const F32 base = largest == -infinity ? F32{} : largest;
        F32 sum{};
        for (j = 0; j < count; ++j, s += width) {
            const F32 weight = exp_negative(load(s) - base);
            store(s, weight);
            sum += weight;
        }
        const F32 rescale = exp_negative(before - base);
        store(tile.rescale + v * lanes, rescale);
        store(state.total + v * lanes, load(state.total + v * lanes) * rescale + sum);
        store(state.largest + v * lanes, largest);
    }
}

/// Rows to prefetch, or none.
struct RowPrefetcher {
    const float* rows = nullptr;
    std::int64_t stride = 0, depth = 0;

    void prefetch_rows(std::int64_t count) {
        if (rows == nullptr) return;
        for (std::int64_t i = 0; i < count; ++i, rows += stride)
            for (std::int64_t d = 0; d < depth; d += 16) prefetch(rows + d);
    }
};

/// Scores of some keys, R at a time, then the rest, with V vectors of queries. Prefetches as many rows.
template <int R, int V>
void score_steps(float* scores, std::int64_t width, const float* queries, const float* keys, std::int64_t stride,
                 std::int64_t depth, std::int64_t count, RowPrefetcher& next_keys, RowPrefetcher& values) {
    for (; count >= R; count -= R, scores += R * width, keys += R * stride) {
        next_keys.prefetch_rows(R);
        values.prefetch_rows(R);
        score_tile<R, V>(scores, width, queries, keys, stride, depth);
    }
    if constexpr (R > 1)
        if (count > 0) score_steps<R / 2, V>(scores, width, queries, keys, stride, depth, count, next_keys, values);
}

/// sums[row] = sums[row] * rescale[row] + weights . values for all rows, C vectors of values at a time, then fewer.
template <int C>
void add_weighted(ManyRowsTile& wide, const float* values, std::int64_t stride, std::int64_t column = 0) {
    const QueryTile& tile = wide.tile;
    const std::int64_t sum_stride = tile.plan.value_stride(), left = tile.plan.value_depth - column;
    const auto each_group = [&](auto is_partial, std::int64_t at, std::int64_t part) {
        for (std::int64_t row = 0; row < tile.rows; row += value_rows) {
            const std::int64_t first = wide.first_of(row, wide.block, wide.behind),
                               last = wide.last_of(row, first, wide.behind);
            if (first == last) continue;
            row_tile<value_rows, C, is_partial, WeightLayout::by_key>(
                tile.state.sums + row * sum_stride + at, sum_stride, wide.scores(first, 0) + row, wide.width,
                values + (first - wide.block) * stride + at, stride, last - first, part,
                wide.has_sums[row / value_rows] ? tile.rescale + row : nullptr, static_cast<const float*>(nullptr));
        }
    };
    const std::int64_t whole = column + left / (C * lanes) * (C * lanes);
    for (; column < whole; column += C * lanes) each_group(std::false_type(), column, 0);
    if constexpr (C > 1)
        add_weighted<C / 2>(wide, values, stride, column);
    else if (column < tile.plan.value_depth)
        each_group(std::true_type(), column, tile.plan.value_depth - column);
}

/// A block's keys or values as floats: in place, or widened.
inline const float* as_floats(float*, const float* rows, std::int64_t, std::int64_t, std::int64_t) { return rows; }
template <typename Half>
const float* as_floats(float* to, const Half* rows, std::int64_t stride, std::int64_t count, std::int64_t depth) {
    for (std::int64_t j = 0; j < count; ++j) {
        const Half* const row = rows + j * stride;
        map_row(to + j * depth, depth, [&](auto at) { return at(row); });
    }
    return to;
}

template <typename Element>
void add_block(ManyRowsTile& wide, const KeyValueView<Element>& kv, std::int64_t from, std::int64_t to,
               bool has_hidden) {
    QueryTile& tile = wide.tile;
    const AttentionPlan& plan = tile.plan;
    constexpr bool is_stored = std::is_same_v<Element, float>;
    const std::int64_t count = wide.end[wide.vectors - 1] - from;
    const std::int64_t k_stride = is_stored ? kv.k_stride : plan.depth,
                       v_stride = is_stored ? kv.v_stride : plan.value_depth;
    float* const widened = tile.scratch.widened;
    const float* const keys = as_floats(widened, kv.k + from * kv.k_stride, kv.k_stride, count, plan.depth);
    RowPrefetcher next_keys, next_values;
    if constexpr (is_stored) {
        // Only if a head's keys and values do not stay in a near cache.
        constexpr std::int64_t near_bytes = 1 << 20;
        const bool is_far = tile.keys * (plan.depth + plan.value_depth) * 4 > near_bytes;
        if (is_far && tile.keys >= to + plan.key_block) next_keys = {kv.k + to * kv.k_stride, kv.k_stride, plan.depth};
        if (is_far) next_values = {kv.v + from * kv.v_stride, kv.v_stride, plan.value_depth};
    }
    for (int i = 0; i < wide.range_count; ++i) {
        const KeyRange& s = wide.ranges[i];
        with_count<tile_vectors>(s.behind - s.first, [&](auto v) {
            score_steps<tile_steps, v>(wide.scores(s.begin, s.first), wide.width,
                                       tile.scratch.queries + s.first * lanes, keys + (s.begin - from) * k_stride,
                                       k_stride, plan.depth, s.end - s.begin, next_keys, next_values);
        });
    }
    if constexpr (has_halves)
        for (int v = 0; v < wide.vectors; ++v) {
            if (wide.whole_end[v] == wide.end[v]) continue;
            const std::int64_t lane = v * lanes + lanes / 2;
            half_score_tile<tile_steps>(wide.scores(wide.whole_end[v], 0) + lane, wide.width,
                                        tile.scratch.queries + lane, keys + (wide.whole_end[v] - from) * k_stride,
                                        k_stride, plan.depth);
        }
    mask_block(wide, has_hidden);
    softmax_block(wide);
    const float* const values = as_floats(widened + plan.key_block * plan.depth, kv.v + from * kv.v_stride, kv.v_stride,
                                          count, plan.value_depth);
    add_weighted<lanes == 16 ? 4 : 2>(wide, values, v_stride);
    for (std::int64_t row = 0; row < tile.rows; row += value_rows)
        wide.has_sums[row / value_rows] |= wide.first_of(row, from, to) < wide.last_of(row, from, to);
}

/// Adds the visible keys of [from, to) for all rows. Calls `hide(begin, end)` for keys that are skipped.
template <typename Element, typename Hide>
void add_keys_to_many(ManyRowsTile& wide, const KeyValueView<Element>& kv, std::int64_t from, std::int64_t to,
                      Hide hide) {
    pack_queries(wide);
    const std::int64_t block = wide.tile.plan.key_block;
    for (std::int64_t begin = from; begin < to; begin += block) {
        const std::int64_t end = to - begin < block ? to : begin + block;
        const VisibleKeys sight = visible_keys(wide.tile, begin, end - begin);
        hide(begin, sight.begin);
        hide(sight.end, end);
        if (sight.begin == sight.end) continue;
        wide.open(sight.begin, sight.end);
        add_block(wide, kv, sight.begin, sight.end, sight.has_hidden);
    }
}

}  // namespace CAIRN_LEVEL
