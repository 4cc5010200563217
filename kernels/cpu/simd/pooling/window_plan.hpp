#pragma once

#include "cairn/kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

/// Window geometry of pools and convolutions, passed from registration to the code of each level.
namespace cairn::kernels::cpu {

/// The windows along one axis.
struct WindowAxis {
    std::int64_t size = 1, before = 0, stride = 1, dilation = 1;
    bool has_set_per_tap = false;  ///< a band stores the elements per tap; otherwise taps of one phase share them

    /// Distance from the first tap of a window to the last.
    std::int64_t reach() const { return (size - 1) * dilation; }
    /// Every stride-th element is stored in one row, a phase. This many taps are in different phases; tap t is in the
    /// phase of t modulo it.
    std::int64_t period() const { return stride / std::gcd(stride, dilation); }
    /// The number of phases that taps read.
    std::int64_t phases() const { return std::min(size, period()); }

    /// Sets of elements in a band: one per tap or one per phase.
    std::int64_t sets() const { return has_set_per_tap ? size : phases(); }
    /// Elements of a set beyond one per position.
    std::int64_t overhang() const { return has_set_per_tap ? 0 : reach() / stride; }
    std::int64_t set_of(std::int64_t tap) const { return has_set_per_tap ? tap : tap % period(); }
    /// Offset of a tap in its set.
    std::int64_t offset_of(std::int64_t tap) const { return has_set_per_tap ? 0 : tap * dilation / stride; }
    /// Position on the padded axis where a set begins.
    std::int64_t first_of(std::int64_t set) const { return has_set_per_tap ? set * dilation : set * dilation % stride; }
    /// The axis with a set per tap, if sets for `positions` output positions are then less than 1 / factor as large.
    /// Dilated windows skip most elements between their taps.
    WindowAxis with_smaller_sets(std::int64_t positions, std::int64_t factor) const {
        WindowAxis slide = *this;
        slide.has_set_per_tap = factor * size * positions < phases() * (positions + reach() / stride);
        return slide;
    }
};

struct WindowPlan {
    WindowAxis rows, columns;
    DType dtype = DType::f32;
    float padding_value = 0;
    int axes = 2;            ///< 1: the image is a row; 3: each channel has several planes
    WindowAxis depths = {};  ///< of the planes

    std::int64_t taps() const { return depths.size * rows.size * columns.size; }
};

/// Maximal taps of a pool along an axis; maximal rows of a result tile; floats after a band that whole vectors may read
/// and write.
inline constexpr std::int64_t max_taps = 32, band_rows = 16, band_slack = 64;
/// Upper bound of the floats of a band and its results, so that both stay in L2; the bound for the narrowest tile,
/// beyond which windows are refused; the minimal columns of a tile that is narrower than the result, if one row of them
/// fits; and the divisor of a tile's columns.
inline constexpr std::int64_t max_band_floats = std::int64_t{1} << 16, max_smallest_band_floats = std::int64_t{1} << 18,
                              wide_tile_columns = 256, min_tile_columns = 16;

/// Refuses windows of operand 0 for output 0 that no window kernel supports, for any dtype.
Refusal accepts_window_axes(const Problem& problem);
/// The windows given by the last attributes of a definition on images.
WindowPlan window_plan(const Problem& problem);
/// Size of the band of one plane: elements of a row for output rows of `q` positions, and rows, of all sets, for `rows`
/// output rows.
template <typename Size>
Size band_pitch(const WindowPlan& plan, const Size& q) {
    return q + Size(plan.columns.overhang());
}
template <typename Size>
Size plane_rows(const WindowPlan& plan, const Size& rows) {
    return Size(plan.rows.sets() * plan.columns.sets()) * (rows + Size(plan.rows.overhang()));
}
/// Rows of the bands of all planes of a window plus the rows of its results, and the floats of both.
template <typename Size>
Size band_lines(const WindowPlan& plan, const Size& rows) {
    return Size(plan.depths.size) * plane_rows(plan, rows) + rows;
}
template <typename Size>
Size band_floats(const WindowPlan& plan, const Size& rows, const Size& columns) {
    return band_lines(plan, rows) * band_pitch(plan, columns);
}

/// Output tile that a team member computes from one band: up to `band_rows` rows of all columns if that band fits into
/// `max_band_floats`; otherwise fewer columns, and fewer rows if necessary.
///
///     3 x 3 over 1 row of 2^20 places: 65 tiles of 16144 columns
struct BandTile {
    std::int64_t rows, columns;

    BandTile(const WindowPlan& plan, std::int64_t p, std::int64_t q) : rows(std::min(p, band_rows)), columns(q) {
        while (band_floats(plan, rows, columns) > max_band_floats) {
            const std::int64_t room = max_band_floats / band_lines(plan, rows) - plan.columns.overhang();
            if (room < std::min(q, wide_tile_columns) && rows > 1) {
                rows = (rows + 1) / 2, columns = q;
                continue;
            }
            // Tiles of about equal width.
            const std::int64_t most = std::max(room / min_tile_columns, std::int64_t{1}) * min_tile_columns;
            const std::int64_t tiles = (q + most - 1) / most, share = (q + tiles - 1) / tiles;
            columns = std::min((share + min_tile_columns - 1) / min_tile_columns * min_tile_columns, q);
            return;
        }
    }
};

/// Floats of the band and results of the narrowest tile.
inline std::int64_t smallest_band_floats(const WindowPlan& plan) {
    return band_floats(plan, std::int64_t{1}, min_tile_columns);
}
/// The plan with a separate set for each tap if the band of the narrowest tile is too large and that makes it smaller.
inline WindowPlan with_smallest_band(WindowPlan plan) {
    if (smallest_band_floats(plan) > max_band_floats)
        plan.columns = plan.columns.with_smaller_sets(min_tile_columns, 1);
    if (smallest_band_floats(plan) > max_band_floats) plan.rows = plan.rows.with_smaller_sets(1, 1);
    return plan;
}
/// `floats` rounded up to whole vectors of 16.
inline std::int64_t whole_vectors(std::int64_t floats) { return (floats + 15) / 16 * 16; }
inline Dim whole_vectors(const Dim& floats) { return ceildiv(floats, 16) * 16; }
/// Workspace of a team member for `p` output rows of `q` positions: taps, the band of a tile, and its results. A
/// multiple of 8 bytes.
template <typename Size>
Size band_bytes(const WindowPlan& plan, const Size& p, const Size& q) {
    using std::min;
    const Size most(std::max(max_band_floats, smallest_band_floats(plan)));
    const Size floats = min(band_floats(plan, min(p, Size(band_rows)), q), most);
    return (whole_vectors(floats) + Size(2 * band_slack)) * Size(4) + Size(plan.taps() * 8);
}

}  // namespace cairn::kernels::cpu
