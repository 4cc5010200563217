#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>

/// Which windows of each plane of an image are meant: what the rows of pools and convolutions tell their code.
namespace cairn::inline v0::kernels::cpu {

/// Along one axis.
struct Slide {
    std::int64_t size = 1, before = 0, stride = 1, dilation = 1;

    /// How far the last tap of a window lies from its first.
    std::int64_t reach() const { return (size - 1) * dilation; }
    /// Every stride-th element is kept in one row; the rows of them that taps read.
    std::int64_t phases() const {
        std::int64_t count = 0;
        for (std::int64_t tap = 0; tap < size; ++tap) count += is_first_of_phase(tap) ? 1 : 0;
        return count;
    }
    bool is_first_of_phase(std::int64_t tap) const {
        for (std::int64_t before_it = 0; before_it < tap; ++before_it)
            if ((tap - before_it) * dilation % stride == 0) return false;
        return true;
    }
};

struct ImagePlan {
    Slide rows, columns;
    DType dtype = DType::f32;
    float outside = 0;

    std::int64_t taps() const { return rows.size * columns.size; }
};

/// Taps along an axis at most; rows of the result made at once, from what a member of the team holds of a plane; floats
/// behind that, up to which whole vectors read and write.
inline constexpr std::int64_t most_taps = 32, band_rows = 16, band_slack = 64;

/// Why code that reads windows of f32, f16 or bf16 images does not take these: of operand 0, for output 0.
Refusal accepts_image(const Problem& problem);
/// As the last attributes of a definition of images say.
ImagePlan image_plan(const Problem& problem);
/// Bytes a member of the team holds for rows of q places, a multiple of 8: the taps, a band of the plane, and one of
/// the result.
template <typename Size>
Size band_bytes(const ImagePlan& plan, const Size& q) {
    const Size pitch = q + Size(plan.columns.reach() / plan.columns.stride);
    const std::int64_t rows = (band_rows + plan.rows.reach() / plan.rows.stride + 1) / 2 * 2;
    const std::int64_t planes = plan.rows.phases() * plan.columns.phases() * rows + band_rows;
    return (pitch * Size(planes) + Size(2 * band_slack)) * Size(4) + Size(plan.taps() * 8);
}

}  // namespace cairn::inline v0::kernels::cpu
