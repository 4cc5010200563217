#pragma once

#include "kernels/cpu/simd/image_plan.hpp"
#include "kernels/cpu/simd/reduce_plan.hpp"

/// What pool_rows.cpp tells pool.cpp.
namespace cairn::inline v0::kernels::cpu {

struct PoolPlan {
    ImagePlan image;
    Fold fold;
};

}  // namespace cairn::inline v0::kernels::cpu
