#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// What axis_rows.cpp tells the run functions of softmax, the normalisations and the reductions.
namespace cairn::inline v0::kernels::cpu {

struct AxisPlan {
    int first, last;  ///< the axes worked along: one, or neighbours that lie behind one another in memory
    bool is_row;      ///< elements along them are contiguous; else those of the last axis are
    float eps;
    bool has_gamma, has_beta;
    DType dtype;  ///< of all operands
};

/// Where vectors lie across the axis, a member of the team holds a block of columns in one piece: so many bytes of each
/// row as keep the block within the second-level cache, and some at least.
inline constexpr std::int64_t widest_row = 1088, narrowest_row = 128, held_bytes = std::int64_t{1} << 19;

}  // namespace cairn::inline v0::kernels::cpu
