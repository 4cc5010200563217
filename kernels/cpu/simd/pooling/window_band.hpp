#pragma once

#include "kernels/cpu/simd/pooling/window_plan.hpp"
#include "kernels/cpu/simd/reduction/row_traversal.hpp"
#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

/// Windows over one channel. A band of its plane is copied into the cache with its padding, widened, with elements one
/// stride apart made adjacent. Then each tap reads all positions of a band in one contiguous run, at its own offset,
/// whatever padding, stride and dilation are.
namespace CAIRN_LEVEL {

template <typename Byte>
concept IsByte = std::is_same_v<Byte, std::int8_t> || std::is_same_v<Byte, std::uint8_t>;
template <IsByte Byte>
CAIRN_INLINE float widened(Byte x) {
    return static_cast<float>(x);
}
CAIRN_INLINE F32 load(const std::int8_t* from) { return to_float(load_bytes(from)); }
CAIRN_INLINE F32 load(const std::uint8_t* from) { return to_float(load_bytes(from)); }
template <IsByte Byte>
CAIRN_INLINE F32 load_part(const Byte* from, std::int64_t count) {
    Byte bytes[lanes] = {};
    std::memcpy(bytes, from, static_cast<std::size_t>(count));
    return load(bytes);
}

/// Loads from[0], from[stride], ..: `n` <= lanes elements, then zeros. Does not read past the last one.
template <typename Element>
CAIRN_INLINE F32 load_strided_elements(const Element* from, std::int64_t stride, std::int64_t n) {
    if (n == 0) return F32{};
    if (stride == 1) return n == lanes ? load(from) : load_part(from, n);
    if (stride == 2) {
        // All elements up to the last, in two vectors that share an element.
        const std::int64_t reach = 2 * n - 1;
        const F32 first = reach >= lanes ? load(from) : load_part(from, reach);
        const F32 second = reach == 2 * lanes - 1 ? load(from + lanes - 1)
                           : reach < lanes        ? F32{}
                                                  : load_part(from + lanes - 1, reach - (lanes - 1));
        return every_second<0, 1, lanes, 1>(first, second);
    }
    alignas(64) float widened_values[lanes] = {};
    for (std::int64_t i = 0; i < n; ++i) widened_values[i] = widened(from[i * stride]);
    return load(widened_values);
}

/// to[i] = from[i * stride].
template <typename Element>
CAIRN_INLINE void copy_strided_elements(float* to, const Element* from, std::int64_t stride, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(to + i, load_strided_elements(from + i * stride, stride, lanes));
    if (i < n) store_part(to + i, load_strided_elements(from + i * stride, stride, n - i), n - i);
}

/// to[i] = from[i], rounded.
CAIRN_INLINE void store_row(float* to, const float* from, std::int64_t n) { copy_strided_elements(to, from, 1, n); }
CAIRN_INLINE void store_row(F16* to, const float* from, std::int64_t n) {
    f16_of_floats(reinterpret_cast<std::uint16_t*>(to), from, n);
}
CAIRN_INLINE void store_row(BF16* to, const float* from, std::int64_t n) {
    bf16_of_floats(reinterpret_cast<std::uint16_t*>(to), from, n);
}

template <IsByte Byte>
CAIRN_INLINE void store_row(Byte* to, const float* from, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store_bytes(to + i, to_int(load(from + i)));
    for (; i < n; ++i) to[i] = static_cast<Byte>(static_cast<std::int32_t>(from[i]));
}

/// The valid positions [first, last) among 0 .. n - 1, of which position i reads element at + i * stride of an axis of
/// `size` elements.
struct ValidRange {
    std::int64_t first, last;

    CAIRN_INLINE ValidRange(std::int64_t at, std::int64_t stride, std::int64_t n, std::int64_t size) {
        first = at >= 0 ? 0 : std::min((stride - 1 - at) / stride, n);
        last = at + (n - 1) * stride < size ? n : at >= size ? 0 : (size - 1 - at) / stride + 1;
        last = std::max(first, last);
    }
};

/// Fills to[begin .. end) with the padding value. May write up to a vector past the end.
CAIRN_INLINE void fill_padding(float* to, std::int64_t begin, std::int64_t end, float padding_value) {
    for (std::int64_t i = begin; i < end; i += lanes) store(to + i, splat(padding_value));
}

/// to[i] = from[i * stride] for valid positions of the `n`, and the padding value for others. May write up to a vector
/// past the end.
template <typename Element>
CAIRN_INLINE void copy_padded(float* to, const Element* from, const ValidRange& inside, std::int64_t stride,
                              std::int64_t n, float padding_value) {
    fill_padding(to, 0, inside.first, padding_value);
    for (std::int64_t i = inside.first; i < inside.last; i += lanes)
        store(to + i, load_strided_elements(from + i * stride, stride, std::min<std::int64_t>(inside.last - i, lanes)));
    fill_padding(to, inside.last, n, padding_value);
}

/// Memory layout of a band of a plane, for some rows of q output positions.
class BandLayout {
public:
    BandLayout(const WindowPlan& plan, std::int64_t rows, std::int64_t q)
        : plan_(plan),
          pitch_(band_pitch(plan, q)),
          rows_(rows + plan.rows.overhang()),
          row_sets_(plan.rows.sets()),
          column_sets_(plan.columns.sets()) {}

    std::int64_t pitch() const { return pitch_; }
    std::int64_t plane_size() const { return row_sets_ * column_sets_ * rows_ * pitch_; }

    /// Sets the offset at which each tap of each plane reads the first position; further positions are contiguous.
    /// Planes begin `distance` apart.
    template <typename Offset>
    void set_taps(Offset* taps, std::int64_t planes, std::int64_t distance) const {
        const WindowAxis &rows = plan_.rows, &columns = plan_.columns;
        for (std::int64_t j = 0; j < rows.size; ++j)
            for (std::int64_t k = 0; k < columns.size; ++k) {
                const std::int64_t row =
                    (rows.set_of(j) * column_sets_ + columns.set_of(k)) * rows_ + rows.offset_of(j);
                taps[j * columns.size + k] = static_cast<Offset>(row * pitch_ + columns.offset_of(k));
            }
        const std::int64_t count = rows.size * columns.size;
        for (std::int64_t t = count; t < planes * count; ++t) taps[t] = taps[t - count] + static_cast<Offset>(distance);
    }

    /// Copies the elements of a plane that rows of positions from p on read, from their column q on. May write up to a
    /// vector past the end.
    template <typename Element>
    void fill(float* to, const Element* plane, std::int64_t height, std::int64_t width, std::int64_t row,
              std::int64_t p, std::int64_t q = 0) const {
        const WindowAxis &rows = plan_.rows, &columns = plan_.columns;
        for (std::int64_t j = 0; j < row_sets_; ++j) {
            const std::int64_t first = p * rows.stride + rows.first_of(j) - rows.before;
            for (std::int64_t k = 0; k < column_sets_; ++k) {
                const std::int64_t at = q * columns.stride + columns.first_of(k) - columns.before;
                const ValidRange inside(at, columns.stride, pitch_, width);
                for (std::int64_t r = 0; r < rows_; ++r, to += pitch_) {
                    const std::int64_t y = first + r * rows.stride;
                    if (y >= 0 && y < height)
                        copy_padded(to, plane + y * row + at, inside, columns.stride, pitch_, plan_.padding_value);
                    else
                        fill_padding(to, 0, pitch_, plan_.padding_value);
                }
            }
        }
    }

private:
    const WindowPlan& plan_;
    std::int64_t pitch_, rows_, row_sets_, column_sets_;
};

/// The planes of an image or of a result: after batch and channel one to three axes; a single axis is a plane of one
/// row.
template <typename Element>
struct Planes {
    Element* data;
    std::int64_t batch, channels, depth = 1, height = 1, width;
    std::int64_t batch_stride, channel_stride, depth_stride = 0, row_stride = 0;

    Planes(const TensorArg& arg, int axes)
        : data(reinterpret_cast<Element*>(arg.data)),
          batch(arg.shape[0]),
          channels(arg.shape[1]),
          width(arg.shape[1 + axes]),
          batch_stride(arg.strides[0]),
          channel_stride(arg.strides[1]) {
        if (axes > 1) height = arg.shape[axes], row_stride = arg.strides[axes];
        if (axes > 2) depth = arg.shape[2], depth_stride = arg.strides[2];
    }
    Element* at(std::int64_t b, std::int64_t c, std::int64_t z, std::int64_t row) const {
        return data + b * batch_stride + c * channel_stride + z * depth_stride + row * row_stride;
    }
};

/// The band that a team member holds of one plane, or of all planes of a window with three axes.
class Band {
public:
    Band(const WindowPlan& plan, const BandTile& tile, std::byte* memory)
        : plan_(plan),
          layout_(plan, tile.rows, tile.columns),
          pitch_(layout_.pitch()),
          tap_count_(plan.taps()),
          taps_(reinterpret_cast<std::int64_t*>(memory)),
          plane_(reinterpret_cast<float*>(memory + plan.taps() * 8)),
          results_(plane_ + plan.depths.size * layout_.plane_size() + band_slack) {
        layout_.set_taps(taps_, plan.depths.size, layout_.plane_size());
    }

    /// Copies the elements that positions from row p and column q on read, from the planes of windows at `depth`.
    template <typename Element>
    void fill(const Planes<const Element>& x, std::int64_t b, std::int64_t c, std::int64_t depth, std::int64_t p,
              std::int64_t q) {
        const WindowAxis& depths = plan_.depths;
        float* to = plane_;
        for (std::int64_t i = 0; i < depths.size; ++i, to += layout_.plane_size()) {
            const std::int64_t z = depth * depths.stride + i * depths.dilation - depths.before;
            if (z >= 0 && z < x.depth)
                layout_.fill(to, x.at(b, c, z, 0), x.height, x.width, x.row_stride, p, q);
            else
                fill_padding(to, 0, layout_.plane_size(), plan_.padding_value);
        }
    }

    /// out[i * out_row + j] = op.finish(the reduction by op.take() over the taps at position j of row i), for `rows`
    /// rows of `columns` positions.
    template <typename Op, typename Element>
    void fold(const Op& op, Element* out, std::int64_t out_row, std::int64_t rows, std::int64_t columns) {
        if constexpr (sizeof(Element) == 4)
            if (columns >= 2 * lanes) {
                for (std::int64_t i = 0; i < rows; ++i) reduce_row(op, plane_ + i * pitch_, out + i * out_row, columns);
                return;
            }
        // Narrow rows are computed in one run, including the positions between them.
        const std::int64_t n = (rows - 1) * pitch_ + columns;
        std::int64_t at = 0;
        for (; at < n; at += 4 * lanes) reduce_part<4>(op, plane_ + at, results_ + at);
        for (std::int64_t i = 0; i < rows; ++i) store_row(out + i * out_row, results_ + i * pitch_, columns);
    }

private:
    template <int vectors, typename Op>
    CAIRN_INLINE void sum_taps(const Op& op, const float* from, F32 (&sum)[vectors]) const {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[v] = splat(Op::identity);
        for (std::int64_t t = 0; t < tap_count_; ++t) {
            const float* const tap = from + taps_[t];
            const auto factor = op.factor(t);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) op.take(sum[v], factor, load(tap + v * lanes));
        }
    }
    template <int vectors, typename Op>
    CAIRN_INLINE void reduce_part(const Op& op, const float* from, float* out) const {
        F32 sum[vectors];
        sum_taps(op, from, sum);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) store(out + v * lanes, op.finish(sum[v]));
    }
    template <typename Op>
    void reduce_row(const Op& op, const float* from, float* out, std::int64_t n) const {
        std::int64_t at = 0;
        for (; at + 4 * lanes <= n; at += 4 * lanes) reduce_part<4>(op, from + at, out + at);
        for (; at + lanes <= n; at += lanes) reduce_part<1>(op, from + at, out + at);
        if (at == n) return;
        F32 sum[1];
        sum_taps(op, from + at, sum);
        store_part(out + at, op.finish(sum[0]), n - at);
    }

    const WindowPlan& plan_;
    BandLayout layout_;
    std::int64_t pitch_, tap_count_;
    std::int64_t* taps_;
    float *plane_, *results_;
};

/// Positions [row, row + rows) x [column, column + columns) of a result plane.
struct BandOutput {
    std::int64_t b, c, depth, row, column, rows, columns;
};

/// Calls take(band, places) for each tile of each plane of the results [depths,p,q] of an image, after filling the band
/// with the elements that the tile reads; `each` result planes are computed from each plane. Tiles are consecutive
/// until done() is called.
template <typename Element, typename Take, typename Done>
void each_band(const WindowPlan& plan, const Planes<const Element>& x, std::int64_t depths, std::int64_t p,
               std::int64_t q, std::int64_t each, Team& team, std::byte* memory, Take take, Done done) {
    if (p == 0 || q == 0 || each == 0) return;
    const BandTile tile(plan, p, q);
    const std::int64_t down = (p + tile.rows - 1) / tile.rows, across = (q + tile.columns - 1) / tile.columns;
    const std::int64_t items = x.batch * x.channels * depths * down * across;
    if (items == 0) return;
    Band band(plan, tile, memory);
    const std::int64_t cells = tile.rows * tile.columns * plan.taps() * each;
    const std::int64_t at_once = cells < 32768 ? 32768 / std::max<std::int64_t>(cells, 1) : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < items; chunk = team.next_chunk()) {
        const std::int64_t end = std::min(items, (chunk + 1) * at_once);
        for (std::int64_t item = chunk * at_once; item < end; ++item) {
            const std::int64_t column = item % across * tile.columns, band_number = item / across;
            const std::int64_t row = band_number % down * tile.rows, plane = band_number / down;
            const std::int64_t channel = plane / depths;
            const BandOutput output{channel / x.channels,
                                    channel % x.channels,
                                    plane % depths,
                                    row,
                                    column,
                                    std::min(tile.rows, p - row),
                                    std::min(tile.columns, q - column)};
            band.fill(x, output.b, output.c, output.depth, row, column);
            take(band, output);
        }
        done();
    }
}

}  // namespace CAIRN_LEVEL
