#pragma once

#include "cairn/kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

/// Which windows of each plane of an image are meant: what the rows of pools and convolutions tell their code.
namespace cairn::inline v0::kernels::cpu {

/// Along one axis.
struct Slide {
    std::int64_t size = 1, before = 0, stride = 1, dilation = 1;

    /// How far the last tap of a window lies from its first.
    std::int64_t reach() const { return (size - 1) * dilation; }
    /// Every stride-th element is kept in one row, a phase: this many taps lie in different ones, and tap t in that of
    /// t modulo it.
    std::int64_t period() const { return stride / std::gcd(stride, dilation); }
    /// The phases that taps read.
    std::int64_t phases() const { return std::min(size, period()); }
};

struct ImagePlan {
    Slide rows, columns;
    DType dtype = DType::f32;
    float outside = 0;
    int axes = 2;             ///< one: the image is a row; three: of each channel there are planes behind one another
    Slide depths = {};        ///< of those
    bool is_compact = false;  ///< each column of taps reads planes of its own, whose rows lie without gaps

    std::int64_t taps() const { return depths.size * rows.size * columns.size; }
    /// What is kept of a row of the image: so many rows.
    std::int64_t column_sets() const { return is_compact ? columns.size : columns.phases(); }
};

/// Taps of a pool along an axis at most; rows of the result made at once, from what a member of the team holds of a
/// plane; floats behind that, up to which whole vectors read and write.
inline constexpr std::int64_t most_taps = 32, band_rows = 16, band_slack = 64;

/// Why code that reads windows of images does not take these, whatever their dtype: of operand 0, for output 0.
Refusal accepts_image(const Problem& problem);
/// As the last attributes of a definition of images say.
ImagePlan image_plan(const Problem& problem);
/// Elements of a row of what is kept of a plane for rows of q places, and rows of it, of all phases, for so many rows
/// of places.
template <typename Size>
Size band_pitch(const ImagePlan& plan, const Size& q) {
    return q + Size(plan.is_compact ? 0 : plan.columns.reach() / plan.columns.stride);
}
inline std::int64_t plane_rows(const ImagePlan& plan, std::int64_t rows) {
    return plan.rows.phases() * plan.column_sets() * (rows + plan.rows.reach() / plan.rows.stride);
}
/// Bytes a member of the team holds for rows of q places, a multiple of 8: the taps, a band of the planes, and one of
/// the result.
template <typename Size>
Size band_bytes(const ImagePlan& plan, const Size& q) {
    const std::int64_t rows = (plan.depths.size * plane_rows(plan, band_rows) + band_rows + 1) / 2 * 2;
    return (band_pitch(plan, q) * Size(rows) + Size(2 * band_slack)) * Size(4) + Size(plan.taps() * 8);
}

}  // namespace cairn::inline v0::kernels::cpu
