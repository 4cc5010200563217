#pragma once

#include "kernels/cpu/simd/half.hpp"
#include "kernels/cpu/simd/image_plan.hpp"
#include "kernels/cpu/simd/row_walk.hpp"
#include "kernels/cpu/simd/wide.hpp"

#include <algorithm>

/// Windows of one channel. A band of its plane is brought into the cache with its padding, widened, and with the
/// elements that a stride apart lie side by side: then a tap reads all places of a band in one run, from an offset of
/// its own, whatever padding, stride and dilation are.
namespace CAIRN_LEVEL {

/// from[0], from[stride], ..: `n` <= lanes of them, and zeros. Reads nothing behind the last.
template <typename Element>
CAIRN_INLINE F32 load_places(const Element* from, std::int64_t stride, std::int64_t n) {
    if (n == 0) return F32{};
    if (stride == 1) return n == lanes ? load(from) : load_part(from, n);
    if (stride == 2) {
        // All up to the last of them, in two vectors that share an element.
        const std::int64_t reach = 2 * n - 1;
        const F32 first = reach >= lanes ? load(from) : load_part(from, reach);
        const F32 second = reach == 2 * lanes - 1 ? load(from + lanes - 1)
                           : reach < lanes        ? F32{}
                                                  : load_part(from + lanes - 1, reach - (lanes - 1));
        return every_second<float>(first, second, std::make_index_sequence<lanes>());
    }
    alignas(64) float places[lanes] = {};
    for (std::int64_t i = 0; i < n; ++i) places[i] = widened(from[i * stride]);
    return load(places);
}

/// to[i] = from[i * stride].
template <typename Element>
CAIRN_INLINE void copy_places(float* to, const Element* from, std::int64_t stride, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(to + i, load_places(from + i * stride, stride, lanes));
    if (i < n) store_part(to + i, load_places(from + i * stride, stride, n - i), n - i);
}

/// to[i] = from[i], rounded.
CAIRN_INLINE void store_row(float* to, const float* from, std::int64_t n) { copy_places(to, from, 1, n); }
CAIRN_INLINE void store_row(F16* to, const float* from, std::int64_t n) {
    f16_of_floats(reinterpret_cast<std::uint16_t*>(to), from, n);
}
CAIRN_INLINE void store_row(BF16* to, const float* from, std::int64_t n) {
    bf16_of_floats(reinterpret_cast<std::uint16_t*>(to), from, n);
}

/// Places 0 .. n - 1 of an axis of `size` elements, the first at `at` and others a stride further: of these [first,
/// last) lie in it.
struct Inside {
    std::int64_t first, last;

    CAIRN_INLINE Inside(std::int64_t at, std::int64_t stride, std::int64_t n, std::int64_t size) {
        first = at >= 0 ? 0 : std::min((stride - 1 - at) / stride, n);
        last = at + (n - 1) * stride < size ? n : at >= size ? 0 : (size - 1 - at) / stride + 1;
        last = std::max(first, last);
    }
};

/// to[i] = what lies at place at + i * stride of a row, or outside of it. May write up to a vector behind the n.
template <typename Element>
CAIRN_INLINE void copy_padded(float* to, const Element* row, std::int64_t size, std::int64_t at, std::int64_t stride,
                              std::int64_t n, float outside) {
    const Inside inside(at, stride, n, size);
    if (inside.last - inside.first < n)
        for (std::int64_t i = 0; i < n; i += lanes) store(to + i, splat(outside));
    copy_places(to + inside.first, row + at + inside.first * stride, stride, inside.last - inside.first);
}

/// What a member of the team holds.
class Band {
public:
    Band(const ImagePlan& plan, std::int64_t p, std::int64_t q, std::byte* memory)
        : plan_(plan),
          places_(std::min(p, band_rows)),
          q_(q),
          pitch_(q + plan.columns.reach() / plan.columns.stride),
          rows_(places_ + plan.rows.reach() / plan.rows.stride),
          taps_(reinterpret_cast<std::int64_t*>(memory)),
          plane_(reinterpret_cast<float*>(memory + plan.taps() * 8)),
          results_(plane_ + plan.rows.phases() * plan.columns.phases() * rows_ * pitch_ + band_slack) {
        std::int64_t phase_of_rows[most_taps], phase_of_columns[most_taps];
        number_phases(plan.rows, phase_of_rows);
        number_phases(plan.columns, phase_of_columns);
        const std::int64_t columns = plan.columns.phases();
        for (std::int64_t j = 0; j < plan.rows.size; ++j)
            for (std::int64_t k = 0; k < plan.columns.size; ++k)
                taps_[j * plan.columns.size + k] = ((phase_of_rows[j] * columns + phase_of_columns[k]) * rows_ +
                                                    j * plan.rows.dilation / plan.rows.stride) *
                                                       pitch_ +
                                                   k * plan.columns.dilation / plan.columns.stride;
    }

    /// What places [p, p + count) of a plane read.
    template <typename Element>
    void fill(const Element* plane, std::int64_t height, std::int64_t width, std::int64_t row, std::int64_t p) {
        float* to = plane_;
        const Slide &rows = plan_.rows, &columns = plan_.columns;
        for (std::int64_t j = 0; j < rows.size; ++j) {
            if (!rows.is_first_of_phase(j)) continue;
            const std::int64_t first = p * rows.stride + j * rows.dilation % rows.stride - rows.before;
            for (std::int64_t k = 0; k < columns.size; ++k) {
                if (!columns.is_first_of_phase(k)) continue;
                const std::int64_t at = k * columns.dilation % columns.stride - columns.before;
                for (std::int64_t r = 0; r < rows_; ++r, to += pitch_) {
                    const std::int64_t y = first + r * rows.stride;
                    const bool is_inside = y >= 0 && y < height;
                    copy_padded(to, plane + (is_inside ? y * row : 0), is_inside ? width : 0, at, columns.stride,
                                pitch_, plan_.outside);
                }
            }
        }
    }

    /// out[i * out_row + j] = op.finish(the fold of op.take() over the taps at place j of row i), for `count` rows.
    template <typename Op, typename Element>
    void fold(const Op& op, Element* out, std::int64_t out_row, std::int64_t count) {
        if constexpr (sizeof(Element) == 4)
            if (q_ >= 2 * lanes) {
                for (std::int64_t i = 0; i < count; ++i) fold_row(op, plane_ + i * pitch_, out + i * out_row, q_);
                return;
            }
        // Narrow rows in one run, with what lies between them.
        const std::int64_t n = (count - 1) * pitch_ + q_;
        std::int64_t at = 0;
        for (; at < n; at += 4 * lanes) fold_part<4>(op, plane_ + at, results_ + at);
        for (std::int64_t i = 0; i < count; ++i) store_row(out + i * out_row, results_ + i * pitch_, q_);
    }

private:
    static void number_phases(const Slide& slide, std::int64_t* phases) {
        std::int64_t count = 0;
        for (std::int64_t tap = 0; tap < slide.size; ++tap) {
            phases[tap] = count;
            if (slide.is_first_of_phase(tap)) {
                ++count;
                continue;
            }
            for (std::int64_t earlier = 0; earlier < tap; ++earlier)
                if ((tap - earlier) * slide.dilation % slide.stride == 0) phases[tap] = phases[earlier];
        }
    }

    template <int vectors, typename Op>
    CAIRN_INLINE void sum_taps(const Op& op, const float* from, F32 (&sum)[vectors]) const {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[v] = splat(Op::none);
        const std::int64_t taps = plan_.taps();
        for (std::int64_t t = 0; t < taps; ++t) {
            const float* const tap = from + taps_[t];
            const auto factor = op.factor(t);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) op.take(sum[v], factor, load(tap + v * lanes));
        }
    }
    template <int vectors, typename Op>
    CAIRN_INLINE void fold_part(const Op& op, const float* from, float* out) const {
        F32 sum[vectors];
        sum_taps(op, from, sum);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) store(out + v * lanes, op.finish(sum[v]));
    }
    template <typename Op>
    void fold_row(const Op& op, const float* from, float* out, std::int64_t n) const {
        std::int64_t at = 0;
        for (; at + 4 * lanes <= n; at += 4 * lanes) fold_part<4>(op, from + at, out + at);
        for (; at + lanes <= n; at += lanes) fold_part<1>(op, from + at, out + at);
        if (at == n) return;
        F32 sum[1];
        sum_taps(op, from + at, sum);
        store_part(out + at, op.finish(sum[0]), n - at);
    }

    const ImagePlan& plan_;
    std::int64_t places_, q_, pitch_, rows_;
    std::int64_t* taps_;
    float *plane_, *results_;
};

/// All planes [B,C] of an image: op_of(c, i) is the i-th of `each` results of channel c, whose plane is number c * each
/// + i of the output.
template <typename Element, typename OpOf>
void fold_windows(const ImagePlan& plan, const TensorArg& x, const TensorArg& out, std::int64_t each, Team& team,
                  std::byte* workspace, OpOf op_of) {
    const std::int64_t channels = x.shape[1], p = out.shape[2], q = out.shape[3];
    const std::int64_t bands = (p + band_rows - 1) / band_rows, items = x.shape[0] * channels * bands;
    if (items == 0 || q == 0 || each == 0) return;
    Band band(plan, p, q, workspace + band_bytes(plan, q) * team.rank());
    const std::int64_t cells = std::min(p, band_rows) * q * plan.taps() * each;
    const std::int64_t at_once = cells < 32768 ? 32768 / std::max<std::int64_t>(cells, 1) : 1;
    const auto* const from = reinterpret_cast<const Element*>(x.data);
    auto* const to = reinterpret_cast<Element*>(out.data);
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < items; chunk = team.next_chunk()) {
        const std::int64_t end = std::min(items, (chunk + 1) * at_once);
        for (std::int64_t item = chunk * at_once; item < end; ++item) {
            const std::int64_t first = item % bands * band_rows, c = item / bands % channels;
            const std::int64_t b = item / bands / channels, count = std::min(band_rows, p - first);
            band.fill(from + b * x.strides[0] + c * x.strides[1], x.shape[2], x.shape[3], x.strides[2], first);
            for (std::int64_t i = 0; i < each; ++i)
                band.fold(op_of(c, i),
                          to + b * out.strides[0] + (c * each + i) * out.strides[1] + first * out.strides[2],
                          out.strides[2], count);
        }
    }
}

}  // namespace CAIRN_LEVEL
