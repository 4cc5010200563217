#pragma once

#include "kernels/cpu/simd/pooling/window_plan.hpp"

#include <cstdint>

/// The plan that registration (im2col_conv_registration.cpp) passes to the code of each level (im2col_conv.hpp).
namespace cairn::kernels::cpu {

struct Im2colPlan {
    bool is_image;     ///< the first operand is an image; otherwise windows
    WindowPlan image;  ///< for windows only the dtype is set
};

/// Block sizes of a convolution over windows: output positions of a block, in vectors; taps gathered at a time; filters
/// whose sums are held. The bytes are the workspace of a team member: gathered windows, a tile of filters, sums, for
/// vectors of at most 64 bytes and tiles of at most 12 rows of 8-byte numbers.
struct Im2colBlocks {
    static constexpr std::int64_t vectors = 8, depth = 256, filters = 192, vector_bytes = 64, tile_rows = 12;
    static constexpr std::int64_t panel_bytes = depth * vectors * vector_bytes, tile_bytes = tile_rows * depth * 8,
                                  bytes = panel_bytes + tile_bytes + filters * vectors * vector_bytes;
};

}  // namespace cairn::kernels::cpu
