#include "kernels/cpu/simd/attention/attention_many_rows.hpp"
#include "kernels/cpu/simd/table.hpp"

/// Flash attention by tiles of rows. For each block of keys it computes scores, their exponentials relative to the
/// largest score so far, and weighted sums of values, which are rescaled when the maximum grows (online softmax:
/// Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018). Scratch memory does not grow with the
/// number of keys. If there are few tiles, each is also split along its keys, and the partial states are merged in
/// order. Keys hidden from all rows of a tile are skipped in the scores, but not in the values: 0 * NaN is NaN.
namespace CAIRN_LEVEL {
namespace {

/// Adds 0 * v of the keys [begin, end) to sums, except for blocks whose values are known to be finite. Returns whether
/// any block was added.
template <typename Element>
bool add_unseen_values(const QueryTile& tile, const KeyValueView<Element>& kv, std::int64_t begin, std::int64_t end,
                       float* sums) {
    const AttentionPlan& plan = tile.plan;
    const float same = 1.0f;
    bool any = false;
    while (begin < end) {
        const std::int64_t block = begin / plan.key_block, next = (block + 1) * plan.key_block;
        const std::int64_t behind = next < end ? next : end;
        if (tile.is_finite == nullptr || tile.is_finite[block] == std::byte{0}) {
            add_values<1>(sums, plan, tile.scratch.zero_weights, &same, kv.v + begin * kv.v_stride, kv.v_stride,
                          behind - begin);
            any = true;
        }
        begin = behind;
    }
    return any;
}

void clear(float* sums, std::int64_t count) { std::memset(sums, 0, static_cast<std::size_t>(count) * sizeof(float)); }

void clear_sums(const QueryTile& tile, std::int64_t row, std::int64_t behind) {
    const std::int64_t stride = tile.plan.value_stride();
    clear(tile.state.sums + row * stride, (behind - row) * stride);
}

void clear_state(const OnlineSoftmaxState& state) {
    for (std::int64_t row = 0; row < state.rows; ++row) state.largest[row] = -infinity;
    clear(state.total, state.rows);
}

/// Computes the online softmax state of the tile's rows over the keys [from, to).
template <typename Element>
void run_tile(QueryTile& tile, const KeyValueView<Element>& kv, std::int64_t from, std::int64_t to, bool few) {
    const std::int64_t stride = tile.plan.value_stride();
    clear_state(tile.state);
    const std::int64_t first = tile.first_visible(from, to), seen = tile.last_visible(from, to);
    float* const unseen = tile.scratch.unseen;
    bool any = false;
    const auto hide = [&](std::int64_t b, std::int64_t e) { any |= add_unseen_values(tile, kv, b, e, unseen); };
    const auto add_to = [&](std::int64_t row, std::int64_t behind) {
        // The sums are 0 unless a value is NaN or infinite.
        if (!any || sum_row(unseen, tile.plan.value_depth, [](F32 x) { return x; }) == 0.0f) return;
        for (; row < behind; ++row) {
            float* const sums = tile.state.sums + row * stride;
            map_row(sums, stride, [&](auto at) { return at(sums) + at(unseen); });
        }
    };
    clear(unseen, stride);
    hide(from, first);
    hide(seen, to);
    if (few) {
        clear_sums(tile, 0, tile.rows);
        add_keys_to_few(tile, kv, first, seen, hide);
        return add_to(0, tile.rows);
    }
    ManyRowsTile wide(tile);
    add_keys_to_many(wide, kv, first, seen, hide);
    for (std::int64_t row = 0; row < tile.rows; row += value_rows)
        if (!wide.has_sums[row / value_rows]) clear_sums(tile, row, row + value_rows);
    add_to(0, tile.rows);
    // Row groups that share a pass over the values skip, of the keys seen by the tile, those beyond their own edges:
    // groups of later rows skip more at the beginning, groups of earlier rows more at the end.
    clear(unseen, stride);
    any = false;
    std::int64_t edge = seen;
    for (std::int64_t row = (tile.rows - 1) / value_rows * value_rows; row >= 0; row -= value_rows) {
        const std::int64_t last = wide.last_of(row, first, seen);
        hide(last, edge);
        edge = last;
        add_to(row, row + value_rows);
    }
    clear(unseen, stride);
    any = false;
    edge = first;
    for (std::int64_t row = 0; row < tile.rows; row += value_rows) {
        const std::int64_t begin = wide.first_of(row, first, seen);
        hide(edge, begin);
        edge = begin;
        add_to(row, row + value_rows);
    }
}

/// Writes the tile's outputs.
template <typename Element>
void finish(QueryTile& tile, const KeyValueView<Element>& kv) {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        const float* const sums = tile.state.sums + row * tile.plan.value_stride();
        const F32 share = splat(1.0f / tile.state.total[row]);
        map_row(tile.out[row], tile.plan.value_depth, [&](auto at) { return at(sums) * share; });
    }
    if (!tile.plan.may_hide()) return;
    constexpr float far = 104.0f;  // score difference from which exp underflows to weight 0
    float hidden = tile.plan.masked_score;
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        if (tile.plan.adds_to_hidden && (row == 0 || !tile.same_mask || !tile.same_bias))
            hidden = tile.plan.masked_score + max_added(tile, row);
        if (!(tile.state.largest[row] - hidden > far))
            add_hidden_keys(tile, kv, row, tile.state.largest[row], tile.state.total[row]);
    }
}

/// Merges the states of all key splits of a tile; the first one is at `parts`.
void merge_key_splits(const QueryTile& tile, float* parts, std::int64_t count, std::int64_t size) {
    const OnlineSoftmaxState& state = tile.state;
    const std::int64_t stride = tile.plan.value_stride(), rows = state.rows;
    clear_state(state);
    clear_sums(tile, 0, rows);
    for (std::int64_t part = 0; part < count; ++part) {
        const OnlineSoftmaxState one(parts + part * size, rows);
        for (std::int64_t row = 0; row < rows; ++row)
            if (one.largest[row] > state.largest[row]) state.largest[row] = one.largest[row];
    }
    for (std::int64_t part = 0; part < count; ++part) {
        const OnlineSoftmaxState one(parts + part * size, rows);
        alignas(64) float factor[max_tile_rows];
        map_row(factor, rows, [&](auto at) {
            const F32 largest = at(state.largest), base = largest == -infinity ? F32{} : largest;
            return exp_negative(at(one.largest) - base);
        });
        map_row(state.total, rows, [&](auto at) { return at(state.total) + at(one.total) * at(factor); });
        for (std::int64_t row = 0; row < rows; ++row) {
            float *const to = state.sums + row * stride, *const from = one.sums + row * stride;
            map_row(to, stride, [&](auto at) { return at(to) + at(from) * factor[row]; });
        }
    }
}

/// Sizes and strides along [B, H, T, D] of an operand with two to five axes. Missing leading axes have size 1. Of five
/// axes, [B, G, R, T, D], the heads are R in each of G groups.
struct FourAxes {
    std::int64_t shape[4] = {1, 1, 1, 1}, strides[4] = {0, 0, 0, 0};
    std::int64_t group_stride = 0;  ///< stride from group to group
    FourAxes() = default;
    FourAxes(const TensorArg& arg, std::int64_t heads_in_group) {
        for (int i = arg.rank - 1, axis = 3; i >= 0; --i, --axis) {
            shape[axis] = arg.shape[i];
            strides[axis] = arg.strides[i];
            if (axis != 1 || arg.rank < 5) continue;
            group_stride = arg.strides[--i];
            shape[axis] *= arg.shape[i];
        }
        if (arg.rank < 5) group_stride = heads_in_group * strides[1];
    }
    /// Offset of query t of head r in group g.
    std::int64_t query(std::int64_t b, std::int64_t g, std::int64_t r, std::int64_t t) const {
        return b * strides[0] + g * group_stride + r * strides[1] + t * strides[2];
    }
};

/// Strides of a mask or bias along [B, H, T, S].
FourAxes axes_along_scores(const TensorArg& mask, bool of_pairs, std::int64_t heads_in_group) {
    FourAxes axes(mask, heads_in_group);
    if (!of_pairs) {
        axes.shape[0] = axes.shape[2], axes.strides[0] = axes.strides[2];
        axes.shape[2] = 1;
    }
    for (int i = 0; i < 4; ++i)
        if (axes.shape[i] == 1) axes.strides[i] = 0;
    if (axes.shape[1] == 1) axes.group_stride = 0;
    return axes;
}

template <typename Element>
struct AttentionCall {
    const Args& args;
    Team& team;
    const AttentionPlan& plan;
    FourAxes k, v;
    std::int64_t heads_per_group;  ///< query heads per key head
    FourAxes q, out, mask, bias;
    std::int64_t queries, keys, heads;  ///< key heads of all batches
    AttentionSplit cut;
    bool few;
    std::int64_t blocks;
    AttentionScratch scratch;
    float* parts;
    std::byte* is_finite;
    std::int64_t chunk = 0, done = 0;

    AttentionCall(const Args& a, Team& t)
        : args(a),
          team(t),
          plan(*static_cast<const AttentionPlan*>(a.prepared)),
          k(a.inputs[1], 1),
          v(a.inputs[2], 1),
          heads_per_group(k.shape[1] == 0 ? 0 : FourAxes(a.inputs[0], 1).shape[1] / k.shape[1]),
          q(a.inputs[0], heads_per_group),
          out(a.outputs[0], heads_per_group),
          mask(plan.mask == AttentionMask::none ? FourAxes()
                                                : axes_along_scores(a.inputs[3], plan.mask_of_pairs, heads_per_group)),
          bias(plan.has_bias ? axes_along_scores(a.inputs[4], true, heads_per_group) : FourAxes()),
          queries(q.shape[2]),
          keys(k.shape[2]),
          heads(q.shape[0] * k.shape[1]),
          cut(heads, queries * heads_per_group, keys, lanes, tile_vectors * lanes, plan.key_block),
          few(cut.tiles == 1 && cut.rows <= few_rows),
          blocks((keys + plan.key_block - 1) / plan.key_block),
          scratch(plan, a.workspace + plan.bytes_per_member() * t.rank()),
          parts(reinterpret_cast<float*>(a.workspace + plan.bytes_per_member() * t.size())),
          is_finite(a.workspace + plan.bytes_per_member() * t.size() + plan.bytes_of_parts()) {}

    /// The number of rows, rounded up to whole vectors unless rows are few.
    std::int64_t padded(std::int64_t rows) const { return few ? rows : (rows + lanes - 1) / lanes * lanes; }

    /// Shares `count` pieces of work, f(0), f(1), ..., among the team, after a barrier that ends all work shared
    /// before.
    template <typename F>
    void share(std::int64_t count, F f) {
        if (count == 0) return;
        if (done == 0)
            chunk = team.next_chunk();
        else
            team.barrier();
        for (; chunk < done + count; chunk = team.next_chunk()) f(chunk - done);
        done += count;
    }

    KeyValueView<Element> stored(std::int64_t head) const {
        const std::int64_t b = head / k.shape[1], g = head % k.shape[1];
        return {reinterpret_cast<const Element*>(args.inputs[1].data) + k.query(b, g, 0, 0),
                reinterpret_cast<const Element*>(args.inputs[2].data) + v.query(b, g, 0, 0), k.strides[2],
                v.strides[2]};
    }

    /// Calls f(row, offset of the row in an operand) for rows from `first` on of a key head.
    template <typename F>
    void each_row(const FourAxes& axes, std::int64_t head, std::int64_t first, std::int64_t rows, F f) const {
        const std::int64_t group = heads_per_group, by_head = axes.strides[1],
                           by_query = axes.strides[2] - group * by_head;
        std::int64_t r = first % group, at = axes.query(head / k.shape[1], head % k.shape[1], r, first / group);
        for (std::int64_t row = 0; group == 1 && row < rows; ++row) f(row, at + row * axes.strides[2]);
        for (std::int64_t row = 0; group > 1 && row < rows; ++row, at += by_head) {
            f(row, at);
            if (++r == group) r = 0, at += by_query;
        }
    }

    /// Sets which keys each row may see by the causal rule and the window.
    void set_edges(QueryTile& tile, std::int64_t first) const {
        const std::int64_t group = heads_per_group, window = plan.window, all = keys, before = all - queries;
        const bool is_causal = plan.causal;
        const auto set = [&](std::int64_t row, std::int64_t t) {
            const std::int64_t own = t + 1 + before;  // the end of the keys up to its own
            tile.key_begin[row] = window == 0 || own < window ? 0 : own - window;
            tile.key_end[row] = !is_causal ? all : own < 0 ? 0 : own;
        };
        std::int64_t t = first / group, r = first % group;
        for (std::int64_t row = 0; group == 1 && row < tile.rows; ++row) set(row, t + row);
        for (std::int64_t row = 0; group > 1 && row < tile.rows; ++row) {
            set(row, t);
            if (++r == group) r = 0, ++t;
        }
    }

    /// The tile of rows from `first` on, of those that share a key head; the heads of a query are adjacent rows.
    QueryTile tile(std::int64_t head, std::int64_t first, float* state) {
        const std::int64_t all = queries * heads_per_group, rows = all - first < cut.rows ? all - first : cut.rows;
        QueryTile tile(plan, scratch, OnlineSoftmaxState(state, padded(rows)), rows, keys);
        each_row(q, head, first, rows,
                 [&, data = elements<const float>(args.inputs[0])](auto row, auto at) { tile.q[row] = data + at; });
        each_row(out, head, first, rows,
                 [&, data = elements<float>(args.outputs[0])](auto row, auto at) { tile.out[row] = data + at; });
        set_edges(tile, first);
        const auto set_rows = [&](const std::byte** to, const std::byte* data, const FourAxes& axes,
                                  std::int64_t size) {
            each_row(axes, head, first, rows, [=](auto row, auto at) { to[row] = data + size * at; });
            return std::all_of(to, to + rows, [&](auto row) { return row == to[0]; });
        };
        tile.mask_stride = mask.strides[3], tile.bias_stride = bias.strides[3];
        if (plan.mask != AttentionMask::none)
            tile.same_mask = set_rows(tile.mask, args.inputs[3].data, mask, plan.mask == AttentionMask::added ? 4 : 1);
        if (plan.has_bias) tile.same_bias = set_rows(tile.bias, args.inputs[4].data, bias, 4);
        if (cut.tiles > 1 && plan.may_hide()) tile.is_finite = is_finite + head * blocks;
        return tile;
    }

    /// Finds which blocks of values are finite, once for all tiles that skip keys.
    void find_finite() {
        constexpr std::int64_t at_once = 8;
        const std::int64_t pieces = (blocks + at_once - 1) / at_once;
        share(heads * pieces, [&](std::int64_t item) {
            const KeyValueView<Element> kv = stored(item / pieces);
            const std::int64_t first = item % pieces * at_once, last = std::min(first + at_once, blocks);
            float* const sums = scratch.unseen;
            const float same = 1.0f;
            for (std::int64_t block = first; block < last; ++block) {
                const std::int64_t begin = block * plan.key_block, end = std::min(begin + plan.key_block, keys);
                clear(sums, plan.value_stride());
                add_values<1>(sums, plan, scratch.zero_weights, &same, kv.v + begin * kv.v_stride, kv.v_stride,
                              end - begin);
                const bool all = sum_row(sums, plan.value_depth, [](F32 x) { return x; }) == 0.0f;
                is_finite[item / pieces * blocks + block] = std::byte{all};
            }
        });
    }

    void run() {
        if (heads == 0 || queries == 0) return;
        if (cut.tiles > 1 && plan.may_hide()) find_finite();
        const std::int64_t size = plan.state_size(padded(cut.rows));
        // The last rows see the most keys, so they run first.
        const auto first_row = [&](std::int64_t item) { return (cut.tiles - 1 - item % cut.tiles) * cut.rows; };
        share(heads * cut.tiles * cut.parts, [&](std::int64_t item) {
            const std::int64_t of = item / cut.parts, part = item % cut.parts, head = of / cut.tiles;
            const std::int64_t from = part * cut.keys_of_part, to = std::min(from + cut.keys_of_part, keys);
            QueryTile one = tile(head, first_row(of), cut.parts > 1 ? parts + item * size : scratch.state);
            run_tile(one, stored(head), std::min(from, to), to, few);
            if (cut.parts == 1) finish_tile(one, stored(head));
        });
        if (cut.parts == 1) return;
        share(heads * cut.tiles, [&](std::int64_t of) {
            QueryTile one = tile(of / cut.tiles, first_row(of), scratch.state);
            merge_key_splits(one, parts + of * cut.parts * size, cut.parts, size);
            finish_tile(one, stored(of / cut.tiles));
        });
    }

    void finish_tile(QueryTile& one, const KeyValueView<Element>& kv) {
        if (keys > 0) return finish(one, kv);
        for (std::int64_t row = 0; row < one.rows; ++row)
            map_row(one.out[row], plan.value_depth, [](auto) { return F32{}; });
    }
};

}  // namespace

void attention(const Args& args, Team& team) {
    with_element(static_cast<const AttentionPlan*>(args.prepared)->stored,
                 [&](auto element) { AttentionCall<decltype(element)>(args, team).run(); });
}

}  // namespace CAIRN_LEVEL
