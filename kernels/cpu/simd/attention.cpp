#include "kernels/cpu/simd/attention_plan.hpp"
#include "kernels/cpu/simd/attention_tile.hpp"
#include "kernels/cpu/simd/row_walk.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

/// Attention by query tiles: for a block of keys after another, scores, their exponentials against the largest score so
/// far, and weighted sums of values, which shrink when a larger score comes (Milakov and Gimelshein, "Online normalizer
/// calculation for softmax", 2018). Scratch memory does not grow with the number of keys. Keys that a tile's last query
/// may not see are left out of the scores, but not of the values: 0 * NaN is NaN.
namespace CAIRN_LEVEL {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// One tile of queries of one head.
struct Tile {
    const AttentionPlan& plan;
    const float *q, *k, *v;
    float* out;
    const std::byte* mask;  ///< of the batch, or null
    std::int64_t q_stride, k_stride, v_stride, out_stride, mask_stride;
    std::int64_t first, rows;  ///< queries of the tile
    std::int64_t queries, keys;
    float *panels, *scores, *sums, *flags;
    float largest[max_query_tile], total[max_query_tile], shrink[max_query_tile];
    bool seen[max_query_tile];

    /// How many keys query `row` of the tile may see, by the causal rule.
    std::int64_t limit(std::int64_t row) const {
        if (!plan.causal) return keys;
        const std::int64_t limit = first + row + 1 + keys - queries;
        return limit < 0 ? 0 : limit < keys ? limit : keys;
    }
    float* score_row_at(std::int64_t row) const { return scores + row * plan.score_stride(); }
    float* sum_row_at(std::int64_t row) const { return sums + row * plan.value_stride(); }
};

/// flags[j] = 1 where key begin + j may be seen; returns the first such j, or count.
std::int64_t read_flags(const Tile& tile, std::int64_t begin, std::int64_t count) {
    std::int64_t found = count;
    for (std::int64_t j = count - 1; j >= 0; --j) {
        const bool visible = tile.mask[(begin + j) * tile.mask_stride] != std::byte{0};
        tile.flags[j] = visible ? 1.0f : 0.0f;
        if (visible) found = j;
    }
    return found;
}

/// Scores of a row to weights e^(score - largest so far), zeros from `visible` up to `width`.
void weigh(Tile& tile, std::int64_t row, std::int64_t visible, std::int64_t width, std::int64_t first_flag) {
    float* s = tile.score_row_at(row);
    if (tile.mask != nullptr) {
        const F32 never = splat(-infinity);
        map_row(s, visible, [&](auto at) { return at(tile.flags) != 0.0f ? at(s) : never; });
    }
    if (first_flag < visible) tile.seen[row] = true;
    const float before = tile.largest[row], here = max_row(s, visible);
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

template <int R, int C>
CAIRN_INLINE std::int64_t value_columns(const Tile& tile, std::int64_t row, std::int64_t begin, std::int64_t width,
                                        std::int64_t column) {
    const AttentionPlan& plan = tile.plan;
    for (; column + C * lanes <= plan.value_depth; column += C * lanes) {
        value_tile<R, C>(tile.sum_row_at(row) + column, plan.value_stride(), tile.score_row_at(row),
                         plan.score_stride(), tile.v + begin * tile.v_stride + column, tile.v_stride, width,
                         tile.shrink + row, 0);
    }
    return column;
}

template <int R>
void value_rows(const Tile& tile, std::int64_t row, std::int64_t begin, std::int64_t width) {
    const AttentionPlan& plan = tile.plan;
    std::int64_t column = 0;
    if constexpr (R == 1) column = value_columns<1, 8>(tile, row, begin, width, column);
    column = value_columns<R, 2>(tile, row, begin, width, column);
    column = value_columns<R, 1>(tile, row, begin, width, column);
    if (column < plan.value_depth) {
        value_tile<R, 1>(tile.sum_row_at(row) + column, plan.value_stride(), tile.score_row_at(row),
                         plan.score_stride(), tile.v + begin * tile.v_stride + column, tile.v_stride, width,
                         tile.shrink + row, plan.value_depth - column);
    }
}

CAIRN_INLINE std::int64_t clamp_width(std::int64_t limit, std::int64_t begin, std::int64_t count) {
    const std::int64_t width = limit - begin;
    return width < 0 ? 0 : width < count ? width : count;
}

/// Keys [begin, begin + count) for all rows of the tile.
void add_keys(Tile& tile, std::int64_t begin, std::int64_t count) {
    const AttentionPlan& plan = tile.plan;
    const std::int64_t first_flag = tile.mask != nullptr ? read_flags(tile, begin, count) : 0;
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
            weigh(tile, r, clamp_width(tile.limit(r), begin, count), width, first_flag);
        with_rows<tile_rows>(rows, [&](auto r) { value_rows<r>(tile, row, begin, width); });
    }
}

/// What a query gets that sees no key, or none with a score above -inf: the mean of the values it does not see, as the
/// masked score is the largest then. Where that is -inf too: NaN.
void write_blind_row(const Tile& tile, std::int64_t row, float* out) {
    const F32 none = splat(tile.plan.blind_is_mean || tile.keys == 0 ? 0.0f : std::numeric_limits<float>::quiet_NaN());
    map_row(out, tile.plan.value_depth, [&](auto) { return none; });
    if (!tile.plan.blind_is_mean || tile.keys == 0) return;
    float hidden = 0;
    for (std::int64_t j = 0; j < tile.keys; ++j) {
        const bool visible =
            j < tile.limit(row) && (tile.mask == nullptr || tile.mask[j * tile.mask_stride] != std::byte{0});
        const F32 weight = splat(visible ? 0.0f : 1.0f);
        const float* v = tile.v + j * tile.v_stride;
        map_row(out, tile.plan.value_depth, [&](auto at) { return at(out) + weight * at(v); });
        if (!visible) ++hidden;
    }
    const F32 count = splat(hidden);
    map_row(out, tile.plan.value_depth, [&](auto at) { return at(out) / count; });
}

/// Keys beyond the causal limit have weight 0, which makes NaN of a value that is not finite: adds 0 * v for the keys
/// that add_keys left out, for tile_rows rows at a time as it did, the last first.
void add_unseen(Tile& tile) {
    const std::int64_t step = tile.rows < few_queries ? 1 : tile_rows;
    float* unseen = tile.scores;  // no longer needed
    const F32 zero = splat(0.0f);
    map_row(unseen, tile.plan.value_depth, [&](auto) { return zero; });
    std::int64_t known = tile.keys;
    for (std::int64_t row = (tile.rows - 1) / step * step; row >= 0; row -= step) {
        const std::int64_t rows = tile.rows - row < step ? tile.rows - row : step;
        for (const std::int64_t end = tile.limit(row + rows - 1); known > end; --known) {
            const float* v = tile.v + (known - 1) * tile.v_stride;
            map_row(unseen, tile.plan.value_depth, [&](auto at) { return at(unseen) + zero * at(v); });
        }
        if (known == tile.keys) continue;
        for (std::int64_t r = row; r < row + rows; ++r) {
            float* sums = tile.sum_row_at(r);
            map_row(sums, tile.plan.value_depth, [&](auto at) { return at(sums) + at(unseen); });
        }
    }
}

void run_tile(Tile& tile) {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        tile.largest[row] = -infinity;
        tile.total[row] = 0.0f;
        tile.seen[row] = false;
        std::memset(tile.sum_row_at(row), 0, static_cast<std::size_t>(tile.plan.value_stride()) * sizeof(float));
    }
    const std::int64_t end = tile.limit(tile.rows - 1);
    for (std::int64_t begin = 0; begin < end; begin += tile.plan.key_block) {
        add_keys(tile, begin, end - begin < tile.plan.key_block ? end - begin : tile.plan.key_block);
    }
    if (tile.plan.causal) add_unseen(tile);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        float* out = tile.out + row * tile.out_stride;
        if (!tile.seen[row] || (tile.largest[row] == -infinity && tile.total[row] == 0.0f)) {
            write_blind_row(tile, row, out);
            continue;
        }
        const float* sums = tile.sum_row_at(row);
        const F32 total = splat(tile.total[row]);
        map_row(out, tile.plan.value_depth, [&](auto at) { return at(sums) / total; });
    }
}

/// Sizes and strides of an operand of two to four axes: what is missing in front is 1.
struct FourAxes {
    std::int64_t shape[4] = {1, 1, 1, 1}, strides[4] = {0, 0, 0, 0};
    explicit FourAxes(const TensorArg& arg) {
        for (int i = 0; i < arg.rank; ++i) {
            shape[4 - arg.rank + i] = arg.shape[i];
            strides[4 - arg.rank + i] = arg.strides[i];
        }
    }
};

}  // namespace

void attention(const Args& args, Team& team) {
    const AttentionPlan& plan = *static_cast<const AttentionPlan*>(args.prepared);
    const FourAxes q(args.inputs[0]), k(args.inputs[1]), v(args.inputs[2]), out(args.outputs[0]);
    const TensorArg* mask = plan.has_mask ? &args.inputs[3] : nullptr;
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
        Tile tile{plan,
                  floats(args.inputs[0]) + b * q.strides[0] + h * q.strides[1] + first * q.strides[2],
                  floats(args.inputs[1]) + b * k.strides[0] + g * k.strides[1],
                  floats(args.inputs[2]) + b * v.strides[0] + g * v.strides[1],
                  floats_out(args.outputs[0]) + b * out.strides[0] + h * out.strides[1] + first * out.strides[2],
                  mask != nullptr ? mask->data + b * mask->strides[0] : nullptr,
                  q.strides[2],
                  k.strides[2],
                  v.strides[2],
                  out.strides[2],
                  mask != nullptr ? mask->strides[1] : 0,
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
                  {},
                  {}};
        run_tile(tile);
    }
}

}  // namespace CAIRN_LEVEL
