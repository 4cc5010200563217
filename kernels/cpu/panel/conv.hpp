#pragma once

#include <cstdint>

/// What conv_rows.cpp tells conv.cpp.
namespace cairn::inline v0::kernels::cpu {

struct ConvPlan {
    bool is_product;  ///< a plain product w @ x: each column is a window of one place
    bool has_bias;
};

/// Taps whose windows are gathered at once, and places side by side: what a member of the team holds.
inline constexpr std::int64_t taps_at_once = 1024, places_at_once = 32;

}  // namespace cairn::inline v0::kernels::cpu
