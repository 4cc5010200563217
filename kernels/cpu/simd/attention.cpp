#include "kernels/cpu/simd/attention_plan.hpp"
#include "kernels/cpu/simd/attention_tile.hpp"
#include "kernels/cpu/simd/row_walk.hpp"
#include "kernels/cpu/simd/table.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

/// Attention by query tiles: for a block of keys after another, scores, their exponentials against the largest score so
/// far, and weighted sums of values, which shrink when a larger score comes (Milakov and Gimelshein, "Online normalizer
/// calculation for softmax", 2018). Scratch memory does not grow with the number of keys. Keys that a tile's last query
/// may not see are left out of the scores, but not of the values: 0 * NaN is NaN.
namespace CAIRN_LEVEL {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// What is said of a tile's scores, from its first row on; null where nothing is.
struct Beside {
    const std::byte* data = nullptr;
    std::int64_t row_stride = 0, key_stride = 0;
};

/// One tile of queries of one head.
struct Tile {
    const AttentionPlan& plan;
    const float* q;
    float* out;
    Beside mask, bias;
    std::int64_t q_stride, out_stride;
    std::int64_t first, rows;  ///< queries of the tile
    std::int64_t queries, keys;
    float *panels, *scores, *sums, *mask_row;
    float largest[max_query_tile], total[max_query_tile], shrink[max_query_tile];

    /// How many keys query `row` of the tile may see, by the causal rule.
    std::int64_t limit(std::int64_t row) const {
        if (!plan.causal) return keys;
        const std::int64_t limit = first + row + 1 + keys - queries;
        return limit < 0 ? 0 : limit < keys ? limit : keys;
    }
    float* score_row_at(std::int64_t row) const { return scores + row * plan.score_stride(); }
    float* sum_row_at(std::int64_t row) const { return sums + row * plan.value_stride(); }
};

/// With the keys and values of its head as they lie.
template <typename Element>
struct StoredTile : Tile {
    const Element *k, *v;
    std::int64_t k_stride, v_stride;
};

/// What is said of a row for `count` keys from `begin` on, one behind the other.
template <typename T>
const T* row_of(const Tile& tile, const Beside& beside, std::int64_t row, std::int64_t begin, std::int64_t count) {
    const std::int64_t stride = beside.key_stride;
    const T* from = reinterpret_cast<const T*>(beside.data) + row * beside.row_stride + begin * stride;
    if (stride == 1) return from;
    T* to = reinterpret_cast<T*>(tile.mask_row);
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[j * stride];
    return to;
}

/// s[j] = f(s[j], j, elements of the vector); returns the largest, NaN aside.
template <typename F>
CAIRN_INLINE float map_max_row(float* s, std::int64_t n, F f) {
    const F32 least = splat(-infinity);
    F32 largest = least;
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        const F32 x = f(load(s + j), j, lanes);
        store(s + j, x);
        largest = quick_max(x, largest);
    }
    if (j < n) {
        const F32 x = f(load_part(s + j, n - j), j, n - j);
        store_part(s + j, x, n - j);
        largest = quick_max(first_lanes(n - j) != 0 ? x : least, largest);
    }
    return max_lanes(largest);
}

/// Caps a row's scores of `count` keys from `begin` on, and adds the bias.
void bias_scores(const Tile& tile, std::int64_t row, std::int64_t begin, std::int64_t count) {
    float* s = tile.score_row_at(row);
    if (tile.plan.softcap > 0) {
        const F32 cap = splat(tile.plan.softcap);
        map_row(s, count, [&](auto at) { return tanh(at(s) / cap) * cap; });
    }
    if (tile.bias.data != nullptr) {
        const float* bias = row_of<float>(tile, tile.bias, row, begin, count);
        map_row(s, count, [&](auto at) { return at(s) + at(bias); });
    }
}

/// Caps, biases and masks a row's scores of `count` keys from `begin` on; returns the largest, NaN aside.
float mask_scores(const Tile& tile, std::int64_t row, std::int64_t begin, std::int64_t count) {
    float* s = tile.score_row_at(row);
    bias_scores(tile, row, begin, count);
    if (tile.plan.mask == AttentionMask::none) return max_row(s, count);
    if (tile.plan.mask == AttentionMask::added) {
        const float* mask = row_of<float>(tile, tile.mask, row, begin, count);
        return map_max_row(s, count, [&](F32 x, std::int64_t j, std::int64_t n) { return x + load_some(mask + j, n); });
    }
    const std::byte* mask = row_of<std::byte>(tile, tile.mask, row, begin, count);
    const F32 never = splat(-infinity);
    const I32 hides = splat(tile.plan.mask_hides ? -1 : 0);
    return map_max_row(s, count, [&](F32 x, std::int64_t j, std::int64_t n) {
        return ((load_bytes(mask + j, n) != 0) ^ hides) != 0 ? x : never;
    });
}

/// Scores of a row to weights e^(score - largest so far), zeros from `visible` up to `width`.
void weigh(Tile& tile, std::int64_t row, std::int64_t begin, std::int64_t visible, std::int64_t width) {
    float* s = tile.score_row_at(row);
    const float before = tile.largest[row], here = mask_scores(tile, row, begin, visible);
    const float largest = here > before ? here : before;
    // With nothing but -inf so far, any base will do: all weights are 0.
    const F32 base = splat(largest == -infinity ? 0.0f : largest);
    const float sum = map_sum_row(s, s, visible, [&](F32 v) { return exp_negative(v - base); });
    for (std::int64_t j = visible; j < width; ++j) s[j] = 0.0f;
    tile.shrink[row] = exp_negative(splat(before) - base)[0];
    tile.total[row] = tile.total[row] * tile.shrink[row] + sum;
    tile.largest[row] = largest;
}

/// Calls f with the number of rows as a constant, for tile_rows rows at a time and the rest.
template <int R, typename F>
CAIRN_INLINE void with_rows(std::int64_t rows, F f) {
    if constexpr (R > 0) {
        if (rows == R) return f(std::integral_constant<int, R>());
        return with_rows<R - 1>(rows, f);
    }
}

template <int R>
void score_rows(const Tile& tile, std::int64_t row, std::int64_t width) {
    const AttentionPlan& plan = tile.plan;
    for (std::int64_t j = 0; j < width; j += panel_keys) {
        score_tile<R>(tile.score_row_at(row) + j, plan.score_stride(), tile.q + row * tile.q_stride, tile.q_stride,
                      tile.panels + j * plan.depth, plan.depth, plan.scale);
    }
}

template <int R, int C, typename Element>
CAIRN_INLINE std::int64_t value_columns(const StoredTile<Element>& tile, std::int64_t row, std::int64_t begin,
                                        std::int64_t width, std::int64_t column) {
    const AttentionPlan& plan = tile.plan;
    for (; column + C * lanes <= plan.value_depth; column += C * lanes) {
        value_tile<R, C, false>(tile.sum_row_at(row) + column, plan.value_stride(), tile.score_row_at(row),
                                plan.score_stride(), tile.v + begin * tile.v_stride + column, tile.v_stride, width,
                                tile.shrink + row, 0);
    }
    return column;
}

template <int R, typename Element>
void value_rows(const StoredTile<Element>& tile, std::int64_t row, std::int64_t begin, std::int64_t width) {
    const AttentionPlan& plan = tile.plan;
    std::int64_t column = 0;
    if constexpr (R == 1) column = value_columns<1, 8>(tile, row, begin, width, column);
    column = value_columns<R, 2>(tile, row, begin, width, column);
    column = value_columns<R, 1>(tile, row, begin, width, column);
    if (column < plan.value_depth) {
        value_tile<R, 1, true>(tile.sum_row_at(row) + column, plan.value_stride(), tile.score_row_at(row),
                               plan.score_stride(), tile.v + begin * tile.v_stride + column, tile.v_stride, width,
                               tile.shrink + row, plan.value_depth - column);
    }
}

CAIRN_INLINE std::int64_t clamp_width(std::int64_t limit, std::int64_t begin, std::int64_t count) {
    const std::int64_t width = limit - begin;
    return width < 0 ? 0 : width < count ? width : count;
}

/// Keys [begin, begin + count) for all rows of the tile.
template <typename Element>
void add_keys(StoredTile<Element>& tile, std::int64_t begin, std::int64_t count) {
    const AttentionPlan& plan = tile.plan;
    const bool one_by_one = tile.rows < few_queries;
    if (!one_by_one) {
        for (std::int64_t j = 0; j < count; j += panel_keys) {
            transpose_panel(tile.panels + j * plan.depth, tile.k + (begin + j) * tile.k_stride, tile.k_stride,
                            count - j < panel_keys ? count - j : panel_keys, plan.depth);
        }
    }
    const std::int64_t step = one_by_one ? 1 : tile_rows;
    for (std::int64_t row = 0; row < tile.rows; row += step) {
        const std::int64_t rows = tile.rows - row < step ? tile.rows - row : step;
        const std::int64_t width = clamp_width(tile.limit(row + rows - 1), begin, count);
        if (width == 0) continue;
        if (one_by_one) {
            score_row(tile.score_row_at(row), tile.q + row * tile.q_stride, tile.k + begin * tile.k_stride,
                      tile.k_stride, width, plan.depth, plan.scale);
        } else {
            with_rows<tile_rows>(rows, [&](auto r) { score_rows<r>(tile, row, width); });
        }
        for (std::int64_t r = row; r < row + rows; ++r)
            weigh(tile, r, begin, clamp_width(tile.limit(r), begin, count), width);
        with_rows<tile_rows>(rows, [&](auto r) { value_rows<r>(tile, row, begin, width); });
    }
}

bool is_visible(const Tile& tile, std::int64_t row, std::int64_t key) {
    if (key >= tile.limit(row)) return false;
    if (tile.plan.mask != AttentionMask::boolean) return true;
    const bool mark = tile.mask.data[row * tile.mask.row_stride + key * tile.mask.key_stride] != std::byte{0};
    return mark != tile.plan.mask_hides;
}

/// Hidden keys have the masked score. Beside a visible one far above it that is weight 0, but where all that is seen is
/// as low, or nothing is seen, the row is computed once more with the weights of all keys. With -inf alone all is NaN.
template <typename Element>
void add_hidden(StoredTile<Element>& tile, std::int64_t row) {
    const AttentionPlan& plan = tile.plan;
    const float score = plan.masked_score, largest = tile.largest[row];
    const F32 base = splat(largest > score ? largest : score);
    const float weight = exp_negative(splat(score) - base)[0];
    bool all_visible = true;
    for (std::int64_t j = 0; weight != 0.0f && all_visible && j < tile.keys; ++j)
        all_visible = is_visible(tile, row, j);
    if (all_visible) return;
    const bool is_blind = largest == -infinity && tile.total[row] == 0.0f;
    float *s = tile.score_row_at(row), *sums = tile.sum_row_at(row);
    map_row(sums, plan.value_depth, [](auto) { return F32{}; });
    tile.total[row] = 0.0f;
    tile.shrink[row] = 1.0f;
    for (std::int64_t begin = 0; begin < tile.keys; begin += plan.key_block) {
        const std::int64_t count = clamp_width(tile.keys, begin, plan.key_block);
        if (is_blind) {
            std::memset(s, 0, static_cast<std::size_t>(count) * sizeof(float));
        } else {
            score_row(s, tile.q + row * tile.q_stride, tile.k + begin * tile.k_stride, tile.k_stride, count, plan.depth,
                      plan.scale);
            mask_scores(tile, row, begin, count);
            map_row(s, count, [&](auto at) { return exp_negative(at(s) - base); });
        }
        for (std::int64_t j = 0; j < count; ++j) {
            if (!is_visible(tile, row, begin + j)) s[j] = weight;
            tile.total[row] += s[j];
        }
        value_rows<1>(tile, row, begin, count);
    }
}

/// Keys beyond the causal limit have weight 0, which makes NaN of a value that is not finite: adds 0 * v for the keys
/// that add_keys left out, for tile_rows rows at a time as it did, the last first.
template <typename Element>
void add_unseen(StoredTile<Element>& tile) {
    const std::int64_t step = tile.rows < few_queries ? 1 : tile_rows;
    float* unseen = tile.scores;  // no longer needed
    const F32 zero = splat(0.0f);
    map_row(unseen, tile.plan.value_depth, [&](auto) { return zero; });
    std::int64_t known = tile.keys;
    for (std::int64_t row = (tile.rows - 1) / step * step; row >= 0; row -= step) {
        const std::int64_t rows = tile.rows - row < step ? tile.rows - row : step;
        for (const std::int64_t end = tile.limit(row + rows - 1); known > end; --known) {
            const Element* v = tile.v + (known - 1) * tile.v_stride;
            map_row(unseen, tile.plan.value_depth, [&](auto at) { return at(unseen) + zero * at(v); });
        }
        if (known == tile.keys) continue;
        for (std::int64_t r = row; r < row + rows; ++r) {
            float* sums = tile.sum_row_at(r);
            map_row(sums, tile.plan.value_depth, [&](auto at) { return at(sums) + at(unseen); });
        }
    }
}

template <typename Element>
void run_tile(StoredTile<Element>& tile) {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        tile.largest[row] = -infinity;
        tile.total[row] = 0.0f;
        std::memset(tile.sum_row_at(row), 0, static_cast<std::size_t>(tile.plan.value_stride()) * sizeof(float));
    }
    const std::int64_t end = tile.limit(tile.rows - 1);
    for (std::int64_t begin = 0; begin < end; begin += tile.plan.key_block) {
        add_keys(tile, begin, end - begin < tile.plan.key_block ? end - begin : tile.plan.key_block);
    }
    if (tile.plan.causal) add_unseen(tile);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        float* out = tile.out + row * tile.out_stride;
        if (tile.keys == 0) {
            map_row(out, tile.plan.value_depth, [](auto) { return F32{}; });
            continue;
        }
        if (tile.plan.may_hide()) add_hidden(tile, row);
        const float* sums = tile.sum_row_at(row);
        const F32 total = splat(tile.total[row]);
        map_row(out, tile.plan.value_depth, [&](auto at) { return at(sums) / total; });
    }
}

/// Sizes and strides along [B, H, T, D] of an operand of two to five axes. What is missing in front is 1; of five,
/// [B, G, R, T, D], the heads are R in each of G groups.
struct FourAxes {
    std::int64_t shape[4] = {1, 1, 1, 1}, strides[4] = {0, 0, 0, 0};
    std::int64_t in_group = 1, group_stride = 0;  ///< heads of a group, and how far apart groups lie
    FourAxes() = default;
    explicit FourAxes(const TensorArg& arg) {
        for (int i = arg.rank - 1, axis = 3; i >= 0; --i, --axis) {
            shape[axis] = arg.shape[i];
            strides[axis] = arg.strides[i];
            if (axis != 1 || arg.rank < 5) continue;
            in_group = arg.shape[i];
            group_stride = arg.strides[--i];
            shape[axis] *= arg.shape[i];
        }
        if (arg.rank < 5) group_stride = strides[1];
    }
    std::int64_t head(std::int64_t h) const { return h / in_group * group_stride + h % in_group * strides[1]; }
};

/// How far apart the elements of a mask or bias lie along [B, H, T, S].
FourAxes axes_beside(const TensorArg& mask, bool of_pairs) {
    FourAxes axes(mask);
    if (!of_pairs) {
        axes.shape[0] = axes.shape[2], axes.strides[0] = axes.strides[2];
        axes.shape[2] = 1;
    }
    for (int i = 0; i < 4; ++i)
        if (axes.shape[i] == 1) axes.strides[i] = 0;
    if (axes.shape[1] == 1) axes.group_stride = 0;
    return axes;
}

/// That of one head, from query `first` on.
Beside beside(const TensorArg& arg, const FourAxes& axes, std::int64_t bytes, std::int64_t b, std::int64_t h,
              std::int64_t first) {
    return {arg.data + bytes * (b * axes.strides[0] + axes.head(h) + first * axes.strides[2]), axes.strides[2],
            axes.strides[3]};
}

template <typename Element>
void attention_of(const Args& args, Team& team) {
    const AttentionPlan& plan = *static_cast<const AttentionPlan*>(args.prepared);
    const FourAxes q(args.inputs[0]), k(args.inputs[1]), v(args.inputs[2]), out(args.outputs[0]);
    const bool has_mask = plan.mask != AttentionMask::none;
    const FourAxes mask = has_mask ? axes_beside(args.inputs[3], plan.mask_of_pairs) : FourAxes();
    const FourAxes bias = plan.has_bias ? axes_beside(args.inputs[4], true) : FourAxes();
    const std::int64_t mask_bytes = plan.mask == AttentionMask::added ? 4 : 1;
    const std::int64_t batch = q.shape[0], heads = q.shape[1], queries = q.shape[2];
    if (batch == 0 || heads == 0 || queries == 0) return;
    const std::int64_t group = heads / k.shape[1];
    // Tiles of about equal height, each a whole number of register tiles.
    const std::int64_t wanted = (queries + max_query_tile - tile_rows) / (max_query_tile - tile_rows + 1);
    const std::int64_t height = ((queries + wanted - 1) / wanted + tile_rows - 1) / tile_rows * tile_rows;
    const std::int64_t tiles = (queries + height - 1) / height;
    float* scratch = reinterpret_cast<float*>(args.workspace + plan.bytes_per_member() * team.rank());
    for (std::int64_t item = team.next_chunk(); item < batch * heads * tiles; item = team.next_chunk()) {
        const std::int64_t b = item / (heads * tiles), h = item / tiles % heads, first = item % tiles * height,
                           g = h / group;
        StoredTile<Element> tile{
            {plan,
             floats(args.inputs[0]) + b * q.strides[0] + q.head(h) + first * q.strides[2],
             floats_out(args.outputs[0]) + b * out.strides[0] + out.head(h) + first * out.strides[2],
             has_mask ? beside(args.inputs[3], mask, mask_bytes, b, h, first) : Beside(),
             plan.has_bias ? beside(args.inputs[4], bias, 4, b, h, first) : Beside(),
             q.strides[2],
             out.strides[2],
             first,
             queries - first < height ? queries - first : height,
             queries,
             k.shape[2],
             scratch,
             scratch + plan.keys_size(),
             scratch + plan.keys_size() + plan.scores_size(),
             scratch + plan.keys_size() + plan.scores_size() + plan.sums_size(),
             {},
             {},
             {}},
            reinterpret_cast<const Element*>(args.inputs[1].data) + b * k.strides[0] + k.head(g),
            reinterpret_cast<const Element*>(args.inputs[2].data) + b * v.strides[0] + v.head(g),
            k.strides[2],
            v.strides[2]};
        run_tile(tile);
    }
}

}  // namespace

void attention(const Args& args, Team& team) {
    switch (static_cast<const AttentionPlan*>(args.prepared)->stored) {
        case DType::bf16: return attention_of<BF16>(args, team);
        case DType::f16: return attention_of<F16>(args, team);
        default: return attention_of<float>(args, team);
    }
}

}  // namespace CAIRN_LEVEL
