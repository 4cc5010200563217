#include "kernels/cpu/panel/conv_plan.hpp"

#include "kernels/cpu/panel/conv_direct.hpp"
#include "kernels/cpu/panel/conv_operands.hpp"
#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/panel/tile.hpp"
#include "kernels/cpu/simd/elementwise/tile_epilogue.hpp"
#include "kernels/cpu/simd/pooling/window_band.hpp"

#include <algorithm>
#include <limits>
#include <utility>

/// Convolutions by the register tiles of the packed product. Over an image the tiles read cached planes
/// (conv_direct.hpp). A few filters over one channel process the rows of its plane. Windows that are views, and the
/// columns of a plain product, use im2col of one block (Chellapilla et al., 2006): the windows of some output positions
/// are gathered into a panel that stays in the cache, and the filters multiply it. The epilogue runs on each tile of
/// sums as soon as it is complete.
namespace CAIRN_LEVEL {
namespace {

/// Consecutive output positions within one row of x.
template <typename Element>
struct PositionRun {
    const Element* x;
    std::int64_t first, count;
};

template <typename Element>
struct PositionRuns {
    int count = 0;
    std::int64_t positions;
    PositionRun<Element> run[positions_per_tile];

    PositionRuns(const ConvOperands<Element>& c, std::int64_t group, std::int64_t begin)
        : positions(std::min(positions_per_tile, c.positions() - begin)) {
        for (std::int64_t at = 0; at < positions;) {
            const std::int64_t position = begin + at, q = position % c.q, row = position / c.q, p = row % c.p,
                               b = row / c.p;
            const std::int64_t n = std::min(c.q - q, positions - at);
            run[count++] = {c.x + b * c.x_batch + group * c.channels * c.x_channel + p * c.x_p + q * c.x_q, at, n};
            at += n;
        }
    }
};

/// How a tap's elements are copied to a row of the panel, for any channel: vectors in the order of positions, the last
/// of which clear the tail.
template <typename Element>
class TapPositions {
public:
    TapPositions(const ConvOperands<Element>& c, const PositionRuns<Element>& runs, std::int64_t j, std::int64_t k)
        : stride_(c.x_q) {
        for (int i = 0; i < runs.count; ++i) {
            const PositionRun<Element>& run = runs.run[i];
            for (std::int64_t first = 0; first < run.count; first += lanes)
                parts_[count_++] = {run.first + first, (run.x - c.x) + j * c.x_j + k * c.x_k + first * c.x_q,
                                    std::min<std::int64_t>(run.count - first, lanes)};
        }
        while (parts_[count_ - 1].to + lanes < positions_per_tile) {
            const std::int64_t next = parts_[count_ - 1].to + lanes;
            parts_[count_++] = {next, 0, 0};
        }
    }

    /// x: the origin of a channel. Prefetches the following positions.
    CAIRN_INLINE void copy(float* to, const Element* x) const {
        for (int i = 0; i < count_; ++i) {
            const Part& part = parts_[i];
            __builtin_prefetch(x + part.from + positions_per_tile * stride_, 0, 2);
            const F32 loaded = load_strided_elements(x + part.from, stride_, part.count);
            const std::int64_t room = positions_per_tile - part.to;
            if (room >= lanes)
                store(to + part.to, loaded);
            else
                store_part(to + part.to, loaded, room);
        }
    }

private:
    struct Part {
        std::int64_t to, from, count;
    };

    std::int64_t stride_;
    int count_ = 0;
    Part parts_[2 * positions_per_tile];
};

/// panel[t - begin][position] = the element that tap t reads at that position, for taps [begin, end).
template <typename Element>
void gather(const ConvOperands<Element>& c, const PositionRuns<Element>& runs, std::int64_t begin, std::int64_t end,
            float* panel) {
    const std::int64_t taps = c.j * c.k;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
        const TapPositions<Element> seen(c, runs, tap / c.k, tap % c.k);
        std::int64_t channel = begin > tap ? (begin - tap + taps - 1) / taps : 0;
        for (std::int64_t t = channel * taps + tap; t < end; t += taps, ++channel)
            seen.copy(panel + (t - begin) * positions_per_tile, c.x + channel * c.x_channel);
    }
}

constexpr auto filter_tiles = tiles<float, group_vectors, 0, false>(std::make_integer_sequence<int, filter_height>());

/// sums[filter][position] of `height` filters from tap `first` on over `depth` taps; with `adds` accumulated on the
/// sums in memory. 16-bit filters are widened into `wide`.
template <typename Element>
void run_tile(const ConvOperands<Element>& c, const Element* w, int height, const float* panel, std::int64_t depth,
              std::int64_t positions, bool adds, float* sums, float* wide) {
    const float* left = wide;
    std::int64_t stride = depth;
    if constexpr (sizeof(Element) == 4)
        left = w, stride = c.w_filter;
    else
        for (int row = 0; row < height; ++row)
            copy_strided_elements(wide + row * depth, w + row * c.w_filter, 1, depth);
    for (int group = 0; group < panel_vectors && group * lanes < positions; group += group_vectors)
        filter_tiles[static_cast<std::size_t>(height - 1)]({left, stride, panel + group * lanes, depth, panel, 0, adds},
                                                           sums + group * lanes);
}

/// Runs the epilogue on the sums of filters from `filter` on at the block of positions that begins at `position`, image
/// by image. `spare`: scratch of one tile.
template <typename Element>
void finish(const ConvOperands<Element>& c, TileEpilogue& body, std::int64_t group, std::int64_t filter, int height,
            std::int64_t position, float* sums, float* spare) {
    const std::int64_t plane = c.p * c.q, end = std::min(position + positions_per_tile, c.positions());
    for (std::int64_t at = position, width = 0; at < end; at += width) {
        const std::int64_t b = at / plane, column = at % plane;
        width = std::min(plane - column, end - at);
        float* part = sums;
        if (width < end - position) {
            part = spare;
            for (int row = 0; row < height; ++row)
                copy_strided_elements(spare + row * positions_per_tile,
                                      sums + row * positions_per_tile + (at - position), 1, width);
        }
        void* const blocks[] = {part};
        body.run({(b * c.groups + group) * c.filters + filter, height, column, width, positions_per_tile}, blocks);
    }
}

/// Filters [begin, end) of a group, at most filters_per_block, at a block of positions; `scratch` holds a panel, a tile
/// of widened filters, then the sums of all these filters.
template <typename Element>
void run_block(const ConvOperands<Element>& c, TileEpilogue& body, std::int64_t group, std::int64_t position,
               std::int64_t begin, std::int64_t end, float* scratch) {
    const PositionRuns<Element> runs(c, group, position);
    float *const panel = scratch, *const wide = panel + taps_per_pass * positions_per_tile,
                 *const sums = wide + taps_per_pass * max_tile_height;
    const Element* const w = c.w + group * c.filters * c.w_filter;
    const std::int64_t taps = c.taps(), parts = std::max<std::int64_t>((taps + taps_per_pass - 1) / taps_per_pass, 1);
    const std::int64_t count = (end - begin + filter_height - 1) / filter_height;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = taps * part / parts, depth = taps * (part + 1) / parts - first;
        gather(c, runs, first, first + depth, panel);
        for (std::int64_t tile = 0; tile < count; ++tile) {
            const std::int64_t filter = begin + (end - begin) * tile / count;
            const int height = static_cast<int>(begin + (end - begin) * (tile + 1) / count - filter);
            float* const of_tile = sums + (filter - begin) * positions_per_tile;
            run_tile(c, w + filter * c.w_filter + first, height, panel, depth, runs.positions, part > 0, of_tile, wide);
            if (part + 1 == parts) finish(c, body, group, filter, height, position, of_tile, wide);
        }
    }
}

/// Computes all blocks of output positions. The filters are split into parts, so that each member has chunks of work
/// and the sums of a part fit into the workspace.
template <typename Element>
void run_blocks(const ConvOperands<Element>& c, TileEpilogue& body, std::byte* memory, Team& team) {
    const std::int64_t blocks = (c.positions() + positions_per_tile - 1) / positions_per_tile;
    const std::int64_t parts =
        std::max(filter_parts(blocks * c.groups, c.filters), (c.filters + filters_per_block - 1) / filters_per_block);
    float* const scratch = reinterpret_cast<float*>(memory);
    const std::int64_t count = blocks * c.groups * parts;
    for (std::int64_t chunk = team.next_chunk(); chunk < count; chunk = team.next_chunk()) {
        const std::int64_t part = chunk % parts, block = chunk / parts % blocks, group = chunk / parts / blocks;
        run_block(c, body, group, block * positions_per_tile, c.filters * part / parts, c.filters * (part + 1) / parts,
                  scratch);
    }
}

/// One filter over one channel: the multiply-add of a tap, and the epilogue scale, bias, relu. The defaults, factor 1,
/// term -0 and lower bound -infinity, leave sums unchanged.
template <typename Element>
struct SingleChannelFilter {
    static constexpr float identity = 0;
    const Element* w;
    float scale = 1, term = -0.0f, least = -std::numeric_limits<float>::infinity();

    CAIRN_INLINE F32 factor(std::int64_t tap) const { return splat(widened(w[tap])); }
    CAIRN_INLINE static void take(F32& sum, F32 factor, F32 x) { multiply_add(sum, factor, x); }
    CAIRN_INLINE F32 finish(F32 sum) const { return max(sum * splat(scale) + splat(term), splat(least)); }
};

/// Results of single-channel filters that await the epilogue: rows of the output matrix, as many as fit into a block if
/// they are short.
class PendingRows {
public:
    PendingRows(std::int64_t columns, TileEpilogue& body, float* memory)
        : columns_(columns), pitch_((columns + 15) / 16 * 16), body_(body), memory_(memory) {
        std::fill_n(memory_, block_size, 0.0f);
    }
    bool are_short() const { return 2 * pitch_ <= block_size; }
    /// Where to store `row`, which follows the row before.
    float* next(std::int64_t row) {
        if ((count_ + 1) * pitch_ > block_size) finish();
        if (count_ == 0) row_ = row;
        return memory_ + count_++ * pitch_;
    }
    void finish() {
        if (count_ == 0) return;
        void* const blocks[] = {memory_};
        body_.run({row_, std::exchange(count_, 0), 0, columns_, pitch_}, blocks);
    }
    /// Runs the epilogue on part of a long row, whose results begin at `from`.
    void finish(std::int64_t row, std::int64_t column, std::int64_t count, std::int64_t from = 0) {
        for (std::int64_t at = 0; at < count; at += block_size) {
            const std::int64_t width = std::min<std::int64_t>(block_size, count - at);
            void* const blocks[] = {memory_ + from + at};
            body_.run({row, 1, column + at, width, width}, blocks);
        }
    }
    float* memory() const { return memory_; }

private:
    std::int64_t columns_, pitch_, row_ = 0, count_ = 0;
    TileEpilogue& body_;
    float* memory_;
};

/// Single-channel filters, one band of output rows at a time.
template <typename Element>
void run_rows(const ConvOperands<Element>& c, const Args& args, const ConvPlan& plan, TileEpilogue& body,
              std::byte* memory, Team& team) {
    const Planes<const Element> x(args.inputs[0], plan.image.axes);
    const Planes<Element> out(args.outputs[0], plan.image.axes);
    PendingRows pending(c.p * c.q, body, reinterpret_cast<float*>(memory + band_bytes(plan.image, c.p, c.q)));
    const BandTile tile(plan.image, c.p, c.q);
    const bool is_one_tile = tile.rows == c.p && tile.columns == c.q;
    const bool are_together = is_one_tile && pending.are_short();
    const auto number_of = [&](int input, std::int64_t filter) {
        const TensorArg& arg = args.inputs[2 + input];
        return reinterpret_cast<const float*>(arg.data)[filter * arg.strides[1]];
    };
    const TensorArg& result = args.outputs[0];
    const bool has_rows = result.strides[result.rank - 1] == 1 || c.q == 1;
    const bool has_tail = plan.tail.is_all && has_rows, is_stored = !plan.has_epilogue || has_tail;
    const auto take = [&](Band& band, const BandOutput& at) {
        for (std::int64_t filter = at.c * c.filters; filter < (at.c + 1) * c.filters; ++filter) {
            SingleChannelFilter<Element> op{c.w + filter * c.w_filter};
            if (has_tail && plan.tail.factor >= 0) op.scale = number_of(plan.tail.factor, filter);
            if (has_tail && plan.tail.term >= 0) op.term = number_of(plan.tail.term, filter);
            if (has_tail && plan.tail.has_relu) op.least = 0;
            const std::int64_t row = at.b * c.groups * c.filters + filter;
            if (is_stored) {
                band.fold(op, out.at(at.b, filter, 0, at.row) + at.column, out.row_stride, at.rows, at.columns);
            } else if (are_together) {
                band.fold(op, pending.next(row), c.q, at.rows, at.columns);
            } else if (at.columns == c.q) {
                band.fold(op, pending.memory(), c.q, at.rows, c.q);
                pending.finish(row, at.row * c.q, at.rows * c.q);
            } else {
                band.fold(op, pending.memory(), at.columns, at.rows, at.columns);
                for (std::int64_t i = 0; i < at.rows; ++i)
                    pending.finish(row, (at.row + i) * c.q + at.column, at.columns, i * at.columns);
            }
        }
    };
    each_band<Element>(plan.image, x, 1, c.p, c.q, c.filters, team, memory, take, [&] { pending.finish(); });
}

/// Inputs after the first two are the operands of the epilogue.
template <typename Element>
void conv_as(const Args& args, const ConvPlan& plan, Team& team) {
    const ConvOperands<Element> c(args, plan);
    if (c.filters == 0 || c.positions() == 0) return;
    std::byte* const memory = args.workspace + member_bytes(plan, c.filters, c.p, c.q) * team.rank();
    TileEpilogue body(plan.body, 1, args.inputs + 2, args.outputs, memory, plan.columns);
    std::byte* const rest = memory + plan.body.bytes_per_member();
    if (plan.is_single_channel) return run_rows(c, args, plan, body, rest, team);
    if (plan.reads == ConvReads::image) return DirectConv<Element>(c, args.inputs[0], plan, body, rest).run(team);
    run_blocks(c, body, rest, team);
}

}  // namespace

void conv2d(const Args& args, Team& team) {
    const ConvPlan& plan = *static_cast<const ConvPlan*>(args.prepared);
    with_element(plan.image.dtype, [&](auto element) { conv_as<decltype(element)>(args, plan, team); });
}

}  // namespace CAIRN_LEVEL
