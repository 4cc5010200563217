#pragma once

#include "kernels/cpu/simd/image_plan.hpp"

#include <cstdint>

/// What conv_rows.cpp tells conv.cpp.
namespace cairn::inline v0::kernels::cpu {

/// What the filters see: an image, windows of any strides, or the columns of a plain product w @ x, each a window of
/// one place.
enum class ConvReads : std::uint8_t { image, windows, matrix };

struct ConvPlan {
    ConvReads reads;
    bool has_bias;
    bool is_of_rows;  ///< few filters that see one channel of an image
    ImagePlan image;  ///< of windows and matrices the dtype alone
};

/// Taps whose windows are gathered at once, places side by side, and filters of a tile at most.
inline constexpr std::int64_t taps_at_once = 1024, places_at_once = 32, most_tile_height = 12;

/// What a member of the team holds: a panel, a tile of filters, sums of all filters of a group.
template <typename Size>
Size block_floats(const Size& filters) {
    return filters * Size(places_at_once) + Size(taps_at_once * (places_at_once + most_tile_height));
}

}  // namespace cairn::inline v0::kernels::cpu
