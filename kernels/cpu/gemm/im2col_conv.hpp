#pragma once

#include "kernels/cpu/gemm/im2col_conv_plan.hpp"
#include "kernels/cpu/gemm/packing.hpp"
#include "kernels/cpu/simd/pooling/window_band.hpp"

#include <algorithm>

/// Convolutions of an image or of windows that are views, for any dtype and strides. The windows of a block of output
/// positions are gathered into a panel that stays in the cache (im2col of one block: Chellapilla et al., 2006); the
/// micro-kernels of plain products multiply it by the filters. Every sum is one chain over channels and taps.
namespace CAIRN_LEVEL {

static_assert(gemm_height <= Im2colBlocks::tile_rows);
static_assert(sizeof(F32) <= Im2colBlocks::vector_bytes);

/// Operands of y[b, g, o, p, q] = sum over c, j, k of w[g, o, c, j, k] x[b, g, c, p, q, j, k]; strides in elements.
/// With one spatial axis p and j are 0. If x is an image, its windows follow from `rows` and `columns`, with zeros
/// outside.
struct Im2colOperands {
    const std::byte *x, *w;
    std::byte* y;
    DType dtype;
    bool is_image;
    WindowAxis rows, columns;
    std::int64_t batch, groups, filters, channels, p = 1, q, j = 1, k, height = 1, width;
    std::int64_t x_batch, x_channel, x_p = 0, x_q, x_j = 0, x_k;
    std::int64_t w_filter, w_channel, w_j = 0, w_k;
    std::int64_t y_batch, y_filter, y_p = 0, y_q;

    Im2colOperands(const TensorArg& image, const TensorArg& weights, const TensorArg& result, const Im2colPlan& plan)
        : x(image.data),
          w(weights.data),
          y(result.data),
          dtype(plan.image.dtype),
          is_image(plan.is_image),
          rows(plan.image.rows),
          columns(plan.image.columns) {
        const int axes = weights.rank - 2, last = 1 + axes;
        batch = image.shape[0], channels = weights.shape[1];
        groups = channels > 0 ? image.shape[1] / channels : 0;
        filters = groups > 0 ? weights.shape[0] / groups : 0;
        q = result.shape[last], k = weights.shape[last];
        x_batch = image.strides[0], x_channel = image.strides[1];
        width = image.shape[last];
        x_q = image.strides[last] * columns.stride;
        x_k = is_image ? image.strides[last] * columns.dilation : image.strides[last + axes];
        w_filter = weights.strides[0], w_channel = weights.strides[1], w_k = weights.strides[last];
        y_batch = result.strides[0], y_filter = result.strides[1], y_q = result.strides[last];
        if (axes == 1) return;
        p = result.shape[2], j = weights.shape[2];
        height = image.shape[2];
        x_p = image.strides[2] * rows.stride;
        x_j = is_image ? image.strides[2] * rows.dilation : image.strides[4];
        w_j = weights.strides[2], y_p = result.strides[2];
    }

    /// Offset of the first tap of the first output position of an image, from the image's first element.
    std::int64_t origin() const { return -rows.before * row_stride() - columns.before * column_stride(); }
    std::int64_t row_stride() const { return x_p / rows.stride; }
    std::int64_t column_stride() const { return x_q / columns.stride; }

    std::int64_t taps() const { return channels * j * k; }
    std::int64_t positions() const { return p * q; }
};

template <typename T>
class Im2colConv {
public:
    Im2colConv(const Im2colOperands& operands, std::byte* memory)
        : o_(operands),
          panel_(reinterpret_cast<T*>(memory)),
          tile_(reinterpret_cast<T*>(memory + Im2colBlocks::panel_bytes)),
          sums_(reinterpret_cast<T*>(memory + Im2colBlocks::panel_bytes + Im2colBlocks::tile_bytes)) {}

    /// Computes all blocks of output positions. The filters are split into parts, so that there are at least `enough`
    /// chunks of work for the team.
    void run(Team& team) {
        constexpr std::int64_t enough = 16;
        const std::int64_t blocks = (o_.positions() + width - 1) / width, all = o_.batch * o_.groups * blocks;
        if (all == 0 || o_.filters == 0) return;
        const std::int64_t least = (o_.filters + Im2colBlocks::filters - 1) / Im2colBlocks::filters,
                           most = (o_.filters + gemm_height - 1) / gemm_height;
        const std::int64_t parts = std::clamp((enough + all - 1) / all, least, most);
        for (std::int64_t chunk = team.next_chunk(); chunk < all * parts; chunk = team.next_chunk()) {
            const std::int64_t part = chunk % parts, block = chunk / parts % blocks, image = chunk / parts / blocks;
            const std::int64_t first = block * width, begin = o_.filters * part / parts;
            run_block({image / o_.groups, image % o_.groups, first, std::min(width, o_.positions() - first), begin,
                       o_.filters * (part + 1) / parts - begin});
        }
    }

private:
    static constexpr std::int64_t width = Im2colBlocks::vectors * vec_lanes<T>, tile_width = 2 * vec_lanes<T>;

    /// A block of output positions of one image times some filters of a group.
    struct Block {
        std::int64_t batch, group, position, positions, filter, filters;
    };

    /// Calls f(row, column, count, position in the block) for each run of output positions in one row.
    template <typename F>
    void each_run(const Block& block, F f) const {
        for (std::int64_t at = 0, count = 0; at < block.positions; at += count) {
            const std::int64_t row = (block.position + at) / o_.q, column = (block.position + at) % o_.q;
            count = std::min(o_.q - column, block.positions - at);
            f(row, column, count, at);
        }
    }
    const std::byte* at(const std::byte* data, std::int64_t offset) const { return data + offset * bytes_of(o_.dtype); }

    void run_block(const Block& block) {
        const std::int64_t taps = o_.taps(), tiles = (block.filters + gemm_height - 1) / gemm_height;
        for (std::int64_t tap = 0; tap == 0 || tap < taps; tap += Im2colBlocks::depth) {
            const std::int64_t depth = std::min(taps - tap, Im2colBlocks::depth);
            gather(block, tap, depth);
            for (std::int64_t tile = 0; tile < tiles; ++tile) {
                const std::int64_t first = block.filters * tile / tiles, end = block.filters * (tile + 1) / tiles;
                copy_filters(block, first, end, tap, depth);
                run_tile(first, static_cast<int>(end - first), block.positions, depth, tap > 0);
            }
        }
        for (std::int64_t i = 0; i < block.filters; ++i) {
            const std::int64_t filter = block.group * o_.filters + block.filter + i;
            each_run(block, [&](std::int64_t row, std::int64_t column, std::int64_t count, std::int64_t position) {
                std::byte* const to =
                    o_.y + (block.batch * o_.y_batch + filter * o_.y_filter + row * o_.y_p + column * o_.y_q) *
                               bytes_of(o_.dtype);
                write_run(to, o_.dtype, sums_ + i * width + position, o_.y_q, count);
            });
        }
    }

    /// panel[t][position] = the element that tap `tap` + t reads there, with zeros up to a whole tile.
    void gather(const Block& block, std::int64_t tap, std::int64_t depth) {
        const std::int64_t image = block.batch * o_.x_batch + block.group * o_.channels * o_.x_channel;
        const std::int64_t end = (block.positions + tile_width - 1) / tile_width * tile_width;
        each_run(block, [&](std::int64_t row, std::int64_t column, std::int64_t count, std::int64_t position) {
            for (std::int64_t t = 0; t < depth; ++t) {
                T* const to = panel_ + t * width + position;
                const std::int64_t k = (tap + t) % o_.k, j = (tap + t) / o_.k % o_.j, c = (tap + t) / o_.k / o_.j;
                const std::int64_t from =
                    image + c * o_.x_channel + row * o_.x_p + j * o_.x_j + column * o_.x_q + k * o_.x_k;
                if (o_.is_image)
                    read_image(to, from, row * o_.rows.stride + j * o_.rows.dilation - o_.rows.before,
                               column * o_.columns.stride + k * o_.columns.dilation - o_.columns.before, count);
                else
                    read_run(to, o_.dtype, at(o_.x, from), o_.x_q, count);
            }
        });
        for (std::int64_t t = 0; t < depth && block.positions < end; ++t)
            std::fill(panel_ + t * width + block.positions, panel_ + t * width + end, T{});
    }
    /// Reads `count` elements of row y of an image at columns x, x + stride, ..., zeros outside. `from` is the offset
    /// of the first from the origin.
    void read_image(T* to, std::int64_t from, std::int64_t y, std::int64_t x, std::int64_t count) const {
        if (y < 0 || y >= o_.height) {
            std::fill(to, to + count, T{});
            return;
        }
        const ValidRange inside(x, o_.columns.stride, count, o_.width);
        std::fill(to, to + inside.first, T{});
        if (inside.first < inside.last)
            read_run(to + inside.first, o_.dtype, at(o_.x, o_.origin() + from + inside.first * o_.x_q), o_.x_q,
                     inside.last - inside.first);
        std::fill(to + inside.last, to + count, T{});
    }

    void copy_filters(const Block& block, std::int64_t first, std::int64_t end, std::int64_t tap, std::int64_t depth) {
        for (std::int64_t i = first; i < end; ++i) {
            const std::int64_t filter = (block.group * o_.filters + block.filter + i) * o_.w_filter;
            // Taps of one row of a filter have one stride.
            for (std::int64_t t = 0, count = 0; t < depth; t += count) {
                const std::int64_t column = (tap + t) % o_.k, row = (tap + t) / o_.k % o_.j,
                                   channel = (tap + t) / o_.k / o_.j;
                count = std::min(o_.k - column, depth - t);
                read_run(tile_ + (i - first) * Im2colBlocks::depth + t, o_.dtype,
                         at(o_.w, filter + channel * o_.w_channel + row * o_.w_j + column * o_.w_k), o_.w_k, count);
            }
        }
    }

    void run_tile(std::int64_t first, int height, std::int64_t positions, std::int64_t depth, bool accumulates) {
        const auto tile = GemmTiles<T>::shared[1][static_cast<std::size_t>(height - 1)];
        for (std::int64_t position = 0; position < positions; position += tile_width)
            tile({tile_, Im2colBlocks::depth, panel_ + position, width, depth, width, accumulates, 0,
                  reinterpret_cast<const char*>(tile_), 0, 0, nullptr},
                 sums_ + first * width + position);
    }

    Im2colOperands o_;
    T *panel_, *tile_, *sums_;
};

/// inputs x, w.
template <typename T>
void im2col_convolution(const Args& args, Team& team) noexcept {
    const Im2colOperands operands(args.inputs[0], args.inputs[1], args.outputs[0],
                                  *static_cast<const Im2colPlan*>(args.prepared));
    Im2colConv<T>(operands, args.workspace + Im2colBlocks::bytes * team.rank()).run(team);
}

}  // namespace CAIRN_LEVEL
