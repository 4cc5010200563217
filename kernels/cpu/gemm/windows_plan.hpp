#pragma once

#include "kernels/cpu/simd/image_plan.hpp"

#include <cstdint>

/// What windows_rows.cpp tells windows.hpp.
namespace cairn::inline v0::kernels::cpu {

struct WindowsPlan {
    bool is_image;    ///< the first operand is an image; else windows
    ImagePlan image;  ///< of windows the dtype alone
};

/// How a convolution over windows is cut: places of a block, in vectors; taps that are gathered at once; filters whose
/// sums are held. Bytes of a member: gathered windows, a tile of filters, sums; vectors have 64 bytes at most, and a
/// tile 12 rows of 8-byte numbers.
struct WindowBlocks {
    static constexpr std::int64_t vectors = 8, depth = 256, filters = 192, vector_bytes = 64, tile_rows = 12;
    static constexpr std::int64_t panel_bytes = depth * vectors * vector_bytes, tile_bytes = tile_rows * depth * 8,
                                  bytes = panel_bytes + tile_bytes + filters * vectors * vector_bytes;
};

}  // namespace cairn::inline v0::kernels::cpu
